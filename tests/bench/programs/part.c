struct tree_PART { struct tree_PART *left, *right; int key; double value; };

static double sum_PART(const struct tree_PART *tree)
{
	return tree ? sum_PART(tree->left) + tree->value + sum_PART(tree->right)
		    : 0;
}

static struct tree_PART *find_PART(struct tree_PART *tree, int key)
{
	while (tree && tree->key != key)
		tree = key < tree->key ? tree->left : tree->right;
	return tree;
}

int sort_PART(int *numbers, int count)
{
	int swaps = 0;

	for (int i = 0; i < count; i++)
		for (int j = i; j > 0 && numbers[j - 1] > numbers[j]; j--) {
			int kept = numbers[j];

			numbers[j] = numbers[j - 1];
			numbers[j - 1] = kept;
			swaps++;
		}
	return swaps;
}

double use_PART(struct tree_PART *tree, int key, const char *text)
{
	struct tree_PART *found = find_PART(tree, key);
	unsigned hash = 5381;

	for (; *text; text++)
		switch (*text) {
		case 'a': hash += 3; break;
		case 'b': hash *= 5; break;
		case 'c': hash ^= hash >> 7; break;
		default: hash = hash * 33 + (unsigned char)*text;
		}
	return found ? sum_PART(found) + hash : sum_PART(tree);
}
