__attribute__((noipa)) int leaf(int x)
{
	return x * 3 + 1;
}
__attribute__((noipa)) void once(void)
{
	for (int i = 0; i < 1000000; i++)
		leaf(i);
}
int main(void)
{
	once();
	return 0;
}
