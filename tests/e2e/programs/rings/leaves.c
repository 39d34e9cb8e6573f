__attribute__((noipa)) int even(int n) { return n % 2 ? -1 : n; }
__attribute__((noipa)) void none(int n) { static volatile int sink; sink = n; sink++; }
int main(void)
{
	int sum = 0;

	for (int n = 0; n < 6; n++) {
		sum += even(n);
		none(n - 1);
	}
	return sum == 0;
}
