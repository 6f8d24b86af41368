import { describe, expect, it } from 'vitest';
import { Remembered, rememberedText } from '../../../../actors/models/remembered-text.ts';

const remembered = (content: string, more: object = {}) =>
  Remembered.parse({ memory_id: 'm', layer: 'project', content, ...more });
const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as { readonly content: string });

describe('What a model is told of memories', () => {
  it('is nothing where there is none', () => {
    expect(rememberedText([], 1_000)).toBe('');
  });

  it('says of each where it is from, as a line of JSON', () => {
    const told = rememberedText(
      [remembered('a\n"b"', { scope: 's', author: 'key:a', taint: ['web:x'] })],
      1_000,
    );
    expect(linesOf(told)).toEqual([
      {
        memory_id: 'm',
        layer: 'project',
        scope: 's',
        author: 'key:a',
        cameFrom: ['web:x'],
        content: 'a\n"b"',
      },
    ]);
  });

  it('gives what short ones leave to those after them, and cuts the others alike', () => {
    const told = rememberedText(
      ['ab', 'x'.repeat(500), 'y'.repeat(500)].map((text) => remembered(text)),
      300,
    );
    expect(linesOf(told).map(({ content }) => content.match(/^(.)\1*/)?.[0].length)).toEqual([1, 149, 149]);
    expect(linesOf(told)[1]?.content).toContain('the first 149 of 500 characters');
  });

  it('has no half of a character, and no name without an end', () => {
    const told = rememberedText([remembered('😀'.repeat(200), { author: 'a'.repeat(5_000) })], 101);
    expect(told.isWellFormed()).toBe(true);
    expect(told.length).toBeLessThan(1_000);
  });
});
