"""One-token mutations of a C source.

The source is cut into tokens; comments, strings and preprocessor lines are left
alone. Each mutator looks at a token in its surroundings and yields what could
stand in its place. Whether that compiles, or changes anything, is found out
later (run).
"""

import collections
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+ | /\*.*?\*/ | //[^\n]*)
  | (?P<directive>(?<![^\n])[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*(?![\w.]))
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S)

Token = collections.namedtuple("Token", "kind text start end")

# Replaces source[start:end] by `new`.
Mutation = collections.namedtuple("Mutation", "kind start end new")

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OPERATORS = {"+": "-", "-": "+", "&&": "||", "||": "&&", "&": "|", "|": "&",
             "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "|=": "&=",
             "&=": "|=", "++": "--", "--": "++"}
# A `-` or `&` behind one of these is no binary operator, nor is one behind a
# closing parenthesis for certain (a cast): those are left alone.
OPERAND = ("name", "number")
NOT_OPERANDS = {"return", "case", "sizeof", "else", "do"}
TYPE_WORDS = {"const", "struct", "static", "enum", "int", "unsigned", "char", "void",
              "long", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "int64_t",
              "int32_t", "size_t", "bool", "extern", "typedef", "goto", "return",
              "register", "union", "uintptr_t", "int8_t", "int16_t", "case", "default"}


def tokenize(source):
    tokens = []
    for match in TOKEN.finditer(source):
        kind = match.lastgroup
        if kind not in ("skip", "directive"):
            tokens.append(Token(kind, match.group(), match.start(), match.end()))
    return tokens


def closing(tokens, at):
    """The index of the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return i
    return None


def is_operand(token):
    return token.kind in OPERAND and token.text not in NOT_OPERANDS


def comparisons(tokens, i, source):
    token = tokens[i]
    if token.text in COMPARISONS:
        yield token.start, token.end, COMPARISONS[token.text]


def operators(tokens, i, source):
    token, before = tokens[i], tokens[i - 1]
    binary = is_operand(before) or before.text in (")", "]")
    if token.text not in OPERATORS:
        return
    if token.text in ("++", "--", "&&", "||", "<<", ">>") or token.text[1:] == "=":
        yield token.start, token.end, OPERATORS[token.text]
    elif binary and source[token.end] == " " and before.text not in TYPE_WORDS:
        yield token.start, token.end, OPERATORS[token.text]


def constants(tokens, i, source):
    token = tokens[i]
    if token.kind != "number":
        return
    digits = token.text.rstrip("uUlL")
    suffix = token.text[len(digits):]
    is_hex = digits.lower().startswith("0x")
    value = int(digits, 16 if is_hex else 10)
    for other in (value + 1, value - 1):
        if other >= 0:
            yield token.start, token.end, (hex(other) if is_hex else str(other)) + suffix

def conditions(tokens, i, source):
    token = tokens[i]
    if token.text in ("if", "while") and tokens[i + 1].text == "(":
        end = closing(tokens, i + 1)
        if end is not None:
            start, stop = tokens[i + 1].end, tokens[end].start
            yield start, stop, "!(%s)" % source[start:stop]
    elif token.text == "!":
        yield token.start, token.end, ""
    elif token.text in ("true", "false"):
        yield token.start, token.end, "false" if token.text == "true" else "true"


def statements(tokens, i, source):
    """Drops an expression that is a statement, or break and continue."""
    token = tokens[i]
    if tokens[i - 1].text not in (";", "{", "}", ")", ":", "else", "do"):
        return
    if in_for(tokens, i):
        return
    if token.kind != "name" and token.text not in ("*", "++", "--"):
        return
    if token.text in TYPE_WORDS | {"if", "for", "while", "switch", "do", "else",
                                   "__asm__", "_Static_assert"}:
        return
    if tokens[i - 1].text == ")" and not is_head(tokens, i - 1):
        return
    depth, j = 0, i
    while j < len(tokens) and (tokens[j].text != ";" or depth):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(tokens[j].text, 0)
        if depth < 0 or tokens[j].text == ":":
            return
        j += 1
    declared = i + 1 < j and tokens[i + 1].kind == "name"
    if j < len(tokens) and not declared:
        yield token.start, tokens[j].start, ""


def in_for(tokens, i):
    """Whether the token is in the head of a for: what stands there loops."""
    depth = 0
    for j in range(i - 1, max(i - 200, 0), -1):
        depth += {")": 1, "(": -1}.get(tokens[j].text, 0)
        if depth < 0:
            return tokens[j - 1].text == "for"
        if tokens[j].text in ("{", "}"):
            return False
    return False


def is_head(tokens, end):
    """Whether the parenthesis ends the head of an if, for or while."""
    depth = 0
    for i in range(end, 0, -1):
        depth += {")": 1, "(": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return tokens[i - 1].text in ("if", "for", "while", "switch")
    return False


def operands(tokens, i, source):
    """Swaps plain operands of what is not commutative."""
    token, left = tokens[i], tokens[i - 1]
    if token.text not in ("-", "<<", ">>", "<", "<=", ">", ">="):
        return
    right = tokens[i + 1]
    if not is_operand(left) or not is_operand(right):
        return
    if tokens[i - 2].text in (".", "->", ")") or tokens[i + 2].text in (
            ".", "->", "(", "[", "++", "--"):
        return
    yield left.start, right.end, right.text + source[left.end:right.start] + left.text


MUTATORS = (comparisons, operators, constants, conditions, statements, operands)


def mutations(source):
    """All of them, of functions and initializers alike."""
    tokens = tokenize(source)
    last = len(tokens) - 2
    for mutator in MUTATORS:
        for i in range(2, last):
            for start, end, new in mutator(tokens, i, source):
                yield Mutation(mutator.__name__, start, end, new)
