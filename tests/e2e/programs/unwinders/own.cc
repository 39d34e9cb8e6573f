__attribute__((noipa)) static void raise_it(int n)
{
	if (n >= 0)
		throw n;
}

extern "C" __attribute__((noipa)) int NAME(int n)
{
	try {
		raise_it(n);
	} catch (int caught) {
		return caught + 1;
	}
	return -1;
}
