#define FUNCTION(name, symbol) \
	__attribute__((noinline)) void name(void) __asm__(symbol); \
	void name(void) { sum++; }
static volatile int sum;
FUNCTION(d_plain, "_D6shapes5round5plainFiZi")
FUNCTION(d_int, "_D6shapes5round4overFiZi")
FUNCTION(d_long, "_D6shapes5round4overFlZi")
FUNCTION(d_template, "_D6shapes5round__T5twiceTiZQjFNaNbNiNfiZi")
FUNCTION(f_module, "__geometry_MOD_area")
FUNCTION(f_external, "dgemm_")
FUNCTION(a_area, "shapes__area")
FUNCTION(a_over, "shapes__over")
FUNCTION(a_over_2, "shapes__over__2")
FUNCTION(a_plus, "shapes__Oadd")
#ifdef LANGUAGES
FUNCTION(fortran, "_gfortran_set_args")
FUNCTION(ada, "__gnat_initialize")
#endif
int main(void)
{
	d_plain(); d_int(); d_long(); d_template(); f_module(); f_external();
	a_area(); a_over(); a_over_2(); a_plus();
	return sum != 10;
}
