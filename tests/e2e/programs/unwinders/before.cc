struct _Unwind_Exception;
extern "C" {
int __real__Unwind_RaiseException(_Unwind_Exception *);
int __real__Unwind_Resume_or_Rethrow(_Unwind_Exception *);
static int (*volatile raise)(_Unwind_Exception *) =
	__real__Unwind_RaiseException;
static int (*volatile rethrow)(_Unwind_Exception *) =
	__real__Unwind_Resume_or_Rethrow;
__attribute__((noipa)) int __wrap__Unwind_RaiseException(_Unwind_Exception *e)
{
	return raise(e);
}
__attribute__((noipa)) int __wrap__Unwind_Resume_or_Rethrow(
	_Unwind_Exception *e)
{
	return rethrow(e);
}
}
