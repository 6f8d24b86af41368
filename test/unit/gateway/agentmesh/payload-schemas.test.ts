import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentMeshEvent } from '../../../../gateway/agentmesh/mesh-event.ts';
import { PayloadSchemas } from '../../../../gateway/agentmesh/payload-schemas.ts';
import { STANDARD_SCHEMAS } from '../../../../gateway/agentmesh/standard-schemas.ts';

const ID = 'x-mycompany/invoice/v1';
const INVOICE = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] };
const inMemory = (onEvent = (_: AgentMeshEvent): void => {}): PayloadSchemas =>
  new PayloadSchemas({ directory: false, onEvent });

describe('STANDARD_SCHEMAS', () => {
  const schemas = inMemory();
  const outcome = (id: string, value: unknown): string => schemas.check(`agentmesh/${id}/v1`, value).outcome;
  const FLIGHT = 'travel/flight-search';
  const PRODUCT = 'commerce/product-search';
  const BID = 'marketplace/skill-bid';
  const route = { origin: 'VIE', destination: 'LIS', departure_date: '2026-03-01' };
  const price = { price: 1, currency: 'EUR' };

  it.each([
    [FLIGHT, { action: 'search', ...route, return_date: '2026-03-09', passengers: 9, cabin_class: 'first' }],
    [FLIGHT, { action: 'book', flight_number: 'OS1', passengers: 1 }],
    [FLIGHT, { action: 'book', ...route, passengers: 2 }],
    [FLIGHT, { action: 'cancel', flight_number: 'OS1' }],
    [FLIGHT, { results: [{ flight_number: 'OS1', ...price }] }],
    [FLIGHT, { results: [], anything: 'else' }],
    [PRODUCT, { action: 'search', query: 'lamp', min_price: 0, max_price: 9, currency: 'EUR' }],
    [PRODUCT, { action: 'search', category: 'light' }],
    [PRODUCT, { action: 'details', product_id: 'p1' }],
    [PRODUCT, { action: 'purchase', query: 'lamp' }],
    [PRODUCT, { results: [{ product_id: 'p1', name: 'lamp', ...price, in_stock: true }] }],
    [BID, { action: 'request', skill_required: 'sql', description: 'A query' }],
    [BID, { action: 'bid', task_id: 't', bid_amount: 0, bidder_reputation: 1 }],
    [BID, { action: 'accept', task_id: 't' }],
    [BID, { action: 'reject', task_id: 't', budget: { amount: 1, currency: 'EUR' } }],
  ])('%s takes %j', (id, value) => {
    expect(outcome(id, value)).toBe('valid');
  });

  it.each([
    [FLIGHT, {}],
    [FLIGHT, { action: 'search' }],
    [FLIGHT, { action: 'search', ...route, origin: 'vie' }],
    [FLIGHT, { action: 'search', ...route, departure_date: 'tomorrow' }],
    [FLIGHT, { action: 'search', ...route, passengers: 0 }],
    [FLIGHT, { action: 'search', ...route, passengers: 10 }],
    [FLIGHT, { action: 'search', ...route, passengers: 1.5 }],
    [FLIGHT, { action: 'search', ...route, passengers: true }],
    [FLIGHT, { action: 'search', ...route, cabin_class: 'cargo' }],
    [FLIGHT, { action: 'book', flight_number: 'OS1' }],
    [FLIGHT, { action: 'cancel' }],
    [FLIGHT, { action: 'fly', ...route }],
    [FLIGHT, { results: [{}] }],
    [PRODUCT, {}],
    [PRODUCT, { action: 'search' }],
    [PRODUCT, { action: 'search', query: 'lamp', min_price: -1, currency: 'EUR' }],
    [PRODUCT, { action: 'search', query: 'lamp', max_price: 1 }],
    [PRODUCT, { action: 'details' }],
    [PRODUCT, { action: 'purchase' }],
    [PRODUCT, { action: 'search', query: 'lamp', currency: 'euro' }],
    [BID, {}],
    [BID, { action: 'request', skill_required: 'sql' }],
    [BID, { action: 'bid', task_id: 't' }],
    [BID, { action: 'bid', task_id: 't', bid_amount: -1 }],
    [BID, { action: 'accept' }],
    [BID, { action: 'reject' }],
    [BID, { action: 'accept', task_id: 't', bidder_reputation: 2 }],
    [BID, 'a bid'],
  ])('%s does not take %j', (id, value) => {
    expect(outcome(id, value)).toBe('invalid');
  });

  it('tells of each fault where it is, by JSON pointer, and the rule (M-15)', () => {
    const check = schemas.check('agentmesh/travel/flight-search/v1', { results: [{}, { price: 'a/b' }] });
    expect(check).toMatchObject({ outcome: 'invalid' });
    const faults = check.outcome === 'invalid' ? check.faults : [];
    expect(faults).toContainEqual({
      path: '/results/1/price',
      message: 'must be number',
      schemaId: 'agentmesh/travel/flight-search/v1',
      schemaPath: '#/properties/results/items/properties/price/type',
    });
  });

  it('tells of twenty faults at most', () => {
    const results = Array.from({ length: 1_000 }, () => ({}));
    const check = schemas.check('agentmesh/travel/flight-search/v1', { results });
    expect(check.outcome === 'invalid' && check.faults.length).toBe(20);
  });
});

describe('PayloadSchemas', () => {
  it('knows no custom schema (M-19) until it is registered (M-20)', () => {
    const schemas = inMemory();
    expect(schemas.check(ID, {}).outcome).toBe('unknown');
    schemas.register(ID, INVOICE);
    expect(schemas.check(ID, {}).outcome).toBe('invalid');
    expect(schemas.check(ID, { total: 1 }).outcome).toBe('valid');
    expect(schemas.ids()).toEqual([...Object.keys(STANDARD_SCHEMAS), ID].sort());
    expect(schemas.unregister(ID)).toBe(true);
    expect(schemas.check(ID, {}).outcome).toBe('unknown');
    expect(schemas.unregister(ID)).toBe(false);
  });

  it('puts the later schema of an id in place of the former', () => {
    const schemas = inMemory();
    schemas.register(ID, INVOICE);
    schemas.register(ID, { type: 'object' });
    expect(schemas.check(ID, {}).outcome).toBe('valid');
  });

  it.each([
    '',
    'invoice',
    'agentmesh/travel/flight-search/v1',
    'x-a/b',
    'x-a/b/v1/c',
    'x-a/b/1',
    'x-a/b/v01',
    'x-/b/v1',
    'x-a/../v1',
    'x-a/../../etc/v1',
    '/x-a/b/v1',
    '../x-a/b/v1',
    'x-a//v1',
    'x-a/b\0/v1',
    'x-a/b/v1\0',
    'x-a/b/v1\n',
    'x-a\\b/c/v1',
    'x-A/b/v1',
    'x-a/B/v1',
    'x-a/b/V1',
    'x-a/con/v1',
    'x-a/nul/v1',
    'x-a/com1/v1',
    'x-a/b./v1',
    'x-a/.b/v1',
    'x-a/b /v1',
    'x-a/b:c/v1',
    `x-a/${'b'.repeat(65)}/v1`,
    'x-ä/b/v1',
  ])('refuses to register %j, an id that is no safe path', (id) => {
    expect(() => inMemory().register(id, INVOICE)).toThrow(/^id is /);
    expect(() => inMemory().unregister(id)).toThrow(/^id is /);
  });

  it.each([
    ['no schema', 'text'],
    ['a list', []],
    ['a wrong keyword', { type: 'flight' }],
    ['a required that is no list', { required: 'total' }],
    ['another draft', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['a document elsewhere', { $ref: 'https://example.com/invoice.json' }],
    ['a file', { $ref: 'file:///etc/passwd' }],
    ['a dangling reference', { $ref: '#/definitions/none' }],
    ['a reference to itself', { $ref: '#' }],
    [
      'a circle of references',
      {
        $ref: '#/definitions/a',
        definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } },
      },
    ],
    ['a standard schema', { $ref: 'agentmesh/travel/flight-search/v1' }],
    ['a broken pattern', { pattern: '(' }],
    ['a later answer', { $async: true, type: 'object' }],
    ['what is no JSON', { const: 1n }],
    ['too large', { description: 'x'.repeat(70_000) }],
  ])('refuses to register %s', (_, schema) => {
    expect(() => inMemory().register(ID, schema as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringMatching(/^schema is /) }),
    );
  });

  it('refuses a schema that is nested too deep', () => {
    let schema: Record<string, unknown> = {};
    for (let at = 0; at < 100; at++) schema = { not: schema };
    expect(() => inMemory().register(ID, schema)).toThrow(/nested more than 32 deep/);
  });

  it('checks by a schema that refers to itself further down', () => {
    const schemas = inMemory();
    schemas.register(ID, { type: 'object', properties: { child: { $ref: '#' } } });
    expect(schemas.check(ID, { child: { child: {} } }).outcome).toBe('valid');
    expect(schemas.check(ID, { child: { child: 1 } }).outcome).toBe('invalid');
  });

  it('leads references to the schema itself, whatever it calls itself', () => {
    const schemas = inMemory();
    const named = { $id: 'https://example.com/other', $schema: 'https://json-schema.org/draft-07/schema' };
    schemas.register(ID, { ...named, $ref: '#/definitions/a', definitions: { a: { type: 'number' } } });
    schemas.register('x-mycompany/other/v1', { ...named, type: 'string' });
    expect(schemas.check(ID, 1).outcome).toBe('valid');
    expect(schemas.check(ID, 'a').outcome).toBe('invalid');
  });

  const branching = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/definitions/d${at + 1}` }, { $ref: `#/definitions/d${at + 1}` }] },
    ]),
  );

  const doubling = { definitions: { ...branching, d60: { type: 'string' } } };

  it('refuses a schema that takes too long on any text', () => {
    expect(() => inMemory().register(ID, { ...doubling, $ref: '#/definitions/d0' })).toThrow(/timed out/);
  });

  it.each([
    ['a pattern without an end', { properties: { a: { pattern: '^(a+)+$' } } }, `${'a'.repeat(50)}b`],
    ['references that double', { ...doubling, properties: { a: { $ref: '#/definitions/d0' } } }, 'text'],
  ])('ends a check by %s, tells of it, and does not check by it again', (_, schema, a) => {
    const events: AgentMeshEvent[] = [];
    const schemas = inMemory((event) => events.push(event));
    schemas.register(ID, schema);
    const check = schemas.check(ID, { a });
    expect(check).toMatchObject({ outcome: 'unchecked', reason: expect.stringContaining('timed out') });
    expect(events.map(({ kind }) => kind)).toEqual(['schema.suspended']);
    expect(schemas.check(ID, {}).outcome).toBe('unchecked');
    expect(events).toHaveLength(1);
    schemas.register(ID, schema);
    expect(schemas.check(ID, {}).outcome).toBe('valid');
  });

  it('checks nothing that is too large or too deep', () => {
    const schemas = inMemory();
    schemas.register(ID, {});
    let deep: unknown = 1;
    for (let at = 0; at < 100; at++) deep = [deep];
    expect(schemas.check(ID, deep).outcome).toBe('unchecked');
    expect(schemas.check(ID, 'x'.repeat(70_000)).outcome).toBe('unchecked');
  });

  it('takes 256 registered schemas', () => {
    const schemas = inMemory();
    for (let at = 0; at < 256; at++) schemas.register(`x-many/s/v${at}`, {});
    expect(() => schemas.register('x-many/s/v256', {})).toThrow(/at most 256 registered schemas/);
    schemas.register('x-many/s/v0', { type: 'object' });
  });
});

describe('PayloadSchemas with a folder', () => {
  let root = '';
  let directory = '';
  let events: AgentMeshEvent[] = [];
  const open = (): PayloadSchemas =>
    new PayloadSchemas({ directory, onEvent: (event) => events.push(event) });
  const put = (path: string, text: string): void => {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), text);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'orrery-schemas-'));
    directory = join(root, 'schemas');
    events = [];
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('holds the standard schemas for people to read (M-11), and goes by its own', () => {
    open();
    for (const [id, schema] of Object.entries(STANDARD_SCHEMAS))
      expect(JSON.parse(readFileSync(join(directory, `${id}.json`), 'utf8'))).toEqual(schema);
    put('agentmesh/travel/flight-search/v1.json', '{}');
    expect(open().check('agentmesh/travel/flight-search/v1', {}).outcome).toBe('invalid');
    expect(readFileSync(join(directory, 'agentmesh/travel/flight-search/v1.json'), 'utf8')).toBe('{}');
  });

  it('has a registered schema again under the same id, until it is unregistered (M-20)', () => {
    open().register(ID, INVOICE);
    expect(statSync(join(directory, `${ID}.json`)).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(directory, 'x-mycompany/invoice'))).toEqual(['v1.json']);
    const again = open();
    expect(again.check(ID, {}).outcome).toBe('invalid');
    again.unregister(ID);
    expect(open().check(ID, {}).outcome).toBe('unknown');
    expect(events).toEqual([]);
  });

  it('reads a schema that somebody has put there', () => {
    put('x-mycompany/order/v2.json', JSON.stringify(INVOICE));
    expect(open().check('x-mycompany/order/v2', {}).outcome).toBe('invalid');
  });

  it.each([
    ['x-mycompany/invoice/v1.json', '{'],
    ['x-mycompany/invoice/v1.json', '[]'],
    ['x-mycompany/invoice/v1.json', '{"$ref":"#"}'],
    ['x-mycompany/invoice/v1.json', `{"title":"${'x'.repeat(300_000)}"}`],
    ['x-MyCompany/invoice/v1.json', '{}'],
    ['x-mycompany/con/v1.json', '{}'],
    ['x-mycompany/invoice/first.json', '{}'],
  ])('skips %s with %.20j, and tells of it', (path, text) => {
    put(path, text);
    expect(open().ids()).toEqual(Object.keys(STANDARD_SCHEMAS).sort());
    expect(events.map(({ kind }) => kind)).toEqual(['schema.skipped']);
  });

  it('neither reads nor writes through a link', () => {
    put('x-mycompany/order/v1.json', '{}');
    const outside = join(root, 'outside');
    mkdirSync(join(outside, 'invoice'), { recursive: true });
    writeFileSync(join(outside, 'invoice', 'v1.json'), '{}');
    symlinkSync(outside, join(directory, 'x-linked'));
    symlinkSync(join(outside, 'invoice', 'v1.json'), join(directory, 'x-mycompany/order/v2.json'));
    const schemas = open();
    expect(schemas.ids()).not.toContain('x-linked/invoice/v1');
    expect(schemas.ids()).not.toContain('x-mycompany/order/v2');
    expect(events.map(({ kind }) => kind)).toEqual(['schema.skipped', 'schema.skipped']);
    expect(() => schemas.register('x-linked/invoice/v2', {})).toThrow(/is no folder/);
    expect(schemas.check('x-linked/invoice/v2', {}).outcome).toBe('unknown');
    expect(readdirSync(join(outside, 'invoice'))).toEqual(['v1.json']);
    schemas.register('x-mycompany/order/v2', INVOICE);
    expect(readFileSync(join(outside, 'invoice', 'v1.json'), 'utf8')).toBe('{}');
  });

  it('does not register what cannot be kept', () => {
    const schemas = open();
    put('x-mycompany', '');
    expect(() => schemas.register(ID, INVOICE)).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
    expect(schemas.check(ID, {}).outcome).toBe('unknown');
  });

  it('fails where the folder cannot be made', () => {
    writeFileSync(directory, '');
    expect(open).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
    expect(existsSync(join(root, 'x-mycompany'))).toBe(false);
  });
});
