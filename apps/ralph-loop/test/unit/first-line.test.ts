import { expect, it } from 'vitest';
import { firstLine } from '../../loop/first-line.ts';

it.each([
  ['exit code 1\nthe output of the gate', 'exit code 1'],
  ['\n  after an empty line\nmore', 'after an empty line'],
  ['', ''],
])('cuts a reason to its first line that has something in it', (text, line) => {
  expect(firstLine(text)).toBe(line);
});
