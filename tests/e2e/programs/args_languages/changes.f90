module procedures
  implicit none
contains
  subroutine twice(name, x, n, v, fixed, opt)
    character(len=*), intent(in) :: name
    real(8), intent(inout) :: x
    integer(4), intent(out) :: n
    real(8), intent(in) :: v(:), fixed(3)
    integer(4), optional :: opt
    n = len(name)
    x = x * 2 + sum(v) * 0 + fixed(1) * 0
    if (present(opt)) opt = opt + 1
  end subroutine
end module
program main
  use procedures
  implicit none
  real(8) :: x = 1.5d0
  integer(4) :: n = 0, o = 4
  call twice('some text', x, n, [1d0, 2d0], [5d0, 6d0, 7d0], o)
  call twice('', x, n, [1d0, 2d0], [5d0, 6d0, 7d0])
  if (n /= 0 .or. x /= 6) stop 1
end program
