import { describe, expect, it } from 'vitest';
import { actionOf, placeOf } from '../../../runtime/simulate/escape-text.ts';

describe('What is said of code that leaves a simulation (F-03)', () => {
  it.each([
    ['FSREQPROMISE', 'it read or wrote a file or folder'],
    ['PROCESSWRAP', 'it started a process'],
    ['GETADDRINFOREQWRAP', 'it looked up a name in DNS'],
    ['toString', 'it had Node make a resource of the type toString'],
  ])('names what Node calls %s', (type, deed) => {
    expect(actionOf(type)).toBe(deed);
  });

  it.each([
    ['a function of a file', '    at reaching (file:///team/a%20b/mars.ts:12:3)', '/team/a b/mars.ts:12'],
    ['the top of a file', '    at async file:///team/mars.ts:3:1', '/team/mars.ts:3'],
    ['a path', '    at new Mars (/team/(old)/mars.js:7:20)', '/team/(old)/mars.js:7'],
  ])('names %s as the place, past Node and packages', (_, frame, place) => {
    const stack = [
      'Error: left the simulation',
      '    at open (node:internal/fs/promises:639:25)',
      '    at read (file:///team/node_modules/reader/index.js:1:2)',
      frame,
      '    at other (file:///team/venus.ts:1:1)',
    ];
    expect(placeOf(stack.join('\n'))).toBe(place);
  });

  it('names no place where there is none', () => {
    expect(placeOf('Error: left\n    at open (node:fs:1:1)')).toBeUndefined();
  });
});
