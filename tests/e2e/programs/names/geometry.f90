module geometry
contains
  subroutine area(x)
    integer, intent(inout) :: x
    x = mod(x * 3, 1000)
  end subroutine
end module
subroutine outside(x)
  integer, intent(inout) :: x
  x = x + 1
end subroutine
program main
  use geometry
  integer :: a = 1, i
  do i = 1, 10
    call area(a)
    call outside(a)
  end do
  if (a < 0) print *, a
end program
