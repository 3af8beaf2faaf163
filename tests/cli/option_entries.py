# SPDX-License-Identifier: Apache-2.0
"""How it is seen what an option does: the entries of test_options.py's table."""


class Entry:
    """`arguments` are the option and its value. `base` stands for the command's own arguments, `beside` after them."""

    def __init__(self, arguments, beside=(), base=None):
        self.arguments = list(arguments)
        self.beside = list(beside)
        self.base = base

    def without(self, command, base):
        return [*command, *(base if self.base is None else self.base), *self.beside]

    def line(self, command, base):
        return [*self.without(command, base), *self.arguments]

    def check(self, test, command, base):
        raise NotImplementedError


class Changes(Entry):
    """Some of the fields that seen() tells of differ."""

    def __init__(self, arguments, *fields, **options):
        super().__init__(arguments, **options)
        self.fields = fields

    def check(self, test, command, base):
        before = test.seen(*self.without(command, base))
        after = test.seen(*self.line(command, base))
        differ = [name for name in self.fields if before.get(name) != after.get(name)]
        test.assertTrue(differ, f"nothing of {self.fields} differs: {[after.get(name) for name in self.fields]} {after['err']}")
        test.assertNotIn("has no effect", after["err"])


class Shows(Entry):
    """A field is what the option says."""

    def __init__(self, arguments, field, value, **options):
        super().__init__(arguments, **options)
        self.field = field
        self.value = value

    def check(self, test, command, base):
        seen = test.seen(*self.line(command, base))
        test.assertEqual(seen.get(self.field), self.value, seen["err"])
        test.assertNotIn("has no effect", seen["err"])


class Writes(Entry):
    """A file is there afterwards."""

    def __init__(self, arguments, path, **options):
        super().__init__(arguments, **options)
        self.path = path

    def check(self, test, command, base):
        path = test.folder / self.path
        path.unlink(missing_ok=True)
        result = test.run_program(*self.line(command, base))
        test.assertEqual(result.status, 0, result.err)
        test.assertTrue(path.exists())


class Refused(Entry):
    """Exit status 2, and a line that names the option."""

    def check(self, test, command, base):
        test.must_fail(2, *self.line(command, base), says=self.arguments[0])


class Warned(Entry):
    """A line on standard error names the option, and says why it has no effect."""

    def check(self, test, command, base):
        result = test.run_program(*self.line(command, base))
        test.assertRegex(result.err, rf"(?m)^warren: warning: {self.arguments[0]} has no effect: .+$")


class Says(Entry):
    """A warning of the option's own."""

    def __init__(self, arguments, text, **options):
        super().__init__(arguments, **options)
        self.text = text

    def check(self, test, command, base):
        result = test.run_program(*self.line(command, base))
        test.assertRegex(result.err, rf"(?m)^warren: warning: .*{self.text}")


class Kept(Entry):
    """A promise that holds without the option, too: the answer is the same."""

    NAMES = {"--deterministic"}

    def __init__(self, arguments, *fields, **options):
        super().__init__(arguments, **options)
        self.fields = fields

    def check(self, test, command, base):
        test.assertIn(self.arguments[0], self.NAMES)
        before, after = test.seen(*self.without(command, base)), test.seen(*self.line(command, base))
        for name in self.fields:
            test.assertIsNotNone(before.get(name), name)
            test.assertEqual(before.get(name), after.get(name))


class Elsewhere(Entry):
    """Another file of tests has it."""

    def __init__(self, arguments, path):
        super().__init__(arguments)
        self.path = path

    def check(self, test, command, base):
        test.assertIn(f'"{self.arguments[0]}"', (test.tests / self.path).read_text())
