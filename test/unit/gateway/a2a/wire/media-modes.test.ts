import { describe, expect, it } from 'vitest';
import { fitsAccepted, inputModesOf, outputModesOf } from '../../../../../gateway/a2a/wire/media-modes.ts';

const JSON_ONLY = ['application/json'];
const BOTH = ['application/json', 'text/plain'];
const object = (properties: object, required?: string[]) => ({ type: 'object', properties, required });
const TEXT = { type: 'string' };

describe('media types of what capabilities take and give', () => {
  it.each([
    [TEXT, BOTH],
    [{ type: ['string', 'null'] }, BOTH],
    [{ anyOf: [{ type: 'number' }, TEXT] }, BOTH],
    [{}, BOTH],
    [true, BOTH],
    [object({ root: TEXT }), BOTH],
    [object({ root: TEXT, depth: { type: 'number' } }, ['root']), BOTH],
    [object({ one: TEXT, two: TEXT }), JSON_ONLY],
    [object({ one: { type: 'number' } }), JSON_ONLY],
    [object({}), JSON_ONLY],
    [{ type: 'number' }, JSON_ONLY],
  ])('%j is asked for in %j', (schema, modes) => {
    expect(inputModesOf(schema)).toEqual(modes);
  });

  it.each([
    [TEXT, ['text/plain']],
    [object({ root: TEXT }), JSON_ONLY],
    [{ type: 'number' }, JSON_ONLY],
    [{}, ['text/plain', 'application/json']],
    [{ anyOf: [TEXT, { type: 'number' }] }, ['text/plain', 'application/json']],
    [object({ bytes: TEXT, mediaType: TEXT }), ['*/*']],
  ])('%j is answered in %j', (schema, modes) => {
    expect(outputModesOf(schema)).toEqual(modes);
  });

  it.each([
    [['text/plain'], [], true],
    [[], ['image/png'], true],
    [['text/plain'], ['TEXT/Plain; charset=utf-8'], true],
    [['text/plain'], ['text/*'], true],
    [['text/plain'], ['*/*'], true],
    [['text/plain'], ['image/png', 'text/plain'], true],
    [['*/*'], ['image/png'], true],
    [['text/plain'], ['text/html'], false],
    [['text/plain'], ['application/plain'], false],
    [['text/plain', 'application/json'], ['image/*'], false],
  ])('of %j something fits %j: %s', (offered, accepted, fits) => {
    expect(fitsAccepted(offered, accepted)).toBe(fits);
  });
});
