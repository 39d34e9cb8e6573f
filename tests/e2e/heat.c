/* Heat along a rod, cut into pieces, one for each rank; the higher the rank,
 * the longer its piece. The sum of all heat stays as it was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 200

static int length_of(int rank)
{
	return 20000 * (rank + 1);
}

__attribute__((noinline)) static double step(const double *from, double *to,
					     int length)
{
	double sum = 0;

	for (int i = 1; i <= length; i++) {
		to[i] = from[i] +
			0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
		sum += to[i];
	}
	return sum;
}

__attribute__((noinline)) static void exchange(double *rod, int length,
					       int rank, int ranks)
{
	int left = rank ? rank - 1 : MPI_PROC_NULL;
	int right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

	rod[0] = rod[1]; /* nothing leaves at the ends */
	rod[length + 1] = rod[length];
	MPI_Sendrecv(rod + length, 1, MPI_DOUBLE, right, 0, rod, 1, MPI_DOUBLE,
		     left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(rod + 1, 1, MPI_DOUBLE, left, 0, rod + length + 1, 1,
		     MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, ranks;
	double *rod, *next, mine = 0, all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	rod = calloc(length_of(rank) + 2, sizeof(*rod));
	next = calloc(length_of(rank) + 2, sizeof(*rod));
	for (int i = 1; i <= length_of(rank); i++)
		rod[i] = rank + 1;
	for (int i = 0; i < STEPS; i++) {
		double *other = next;

		exchange(rod, length_of(rank), rank, ranks);
		mine = step(rod, next, length_of(rank));
		next = rod;
		rod = other;
		MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM,
			      MPI_COMM_WORLD);
	}
	if (!rank)
		printf("%d ranks, heat %.3f\n", ranks, all);
	MPI_Finalize();
	return 0;
}
