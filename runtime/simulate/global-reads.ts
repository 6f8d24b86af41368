import childProcess from 'node:child_process';
import nodeCrypto from 'node:crypto';
import fs from 'node:fs';
import nodeModule, { type LoadHookSync, syncBuiltinESMExports } from 'node:module';
import { simulationEscaped } from '../protocol/errors.ts';
import { placeOf } from './escape-text.ts';
import { type Running, running } from './running.ts';
import type { Random } from '../protocol/seams.ts';

/**
 * Replaces what agents' code reads from globals, not from its context: time, chance, files, other programs. During
 * simulations, code of an agent gets time and chance of its simulation. Synchronous reads are noted in the result, and
 * loading a module is an escape. All other code of the process is unaffected.
 */

// biome-ignore lint/suspicious/noExplicitAny: whatever these functions are given, they hand on
type Fn = (this: any, ...given: any[]) => any;

const { randomFillSync } = nodeCrypto;

/** A replacement of a global function. `as` is what it does for agents' code. */
interface Replacement {
  readonly holder: object;
  readonly name: string;
  readonly as: (agent: Running, original: Fn, self: unknown, given: unknown[], instead: Fn) => unknown;
}

/** Frames to capture: enough to reach the caller through Node's own code. */
const LOOKED_AT_FRAMES = 50;

const LOADS_MODULE = 'it loaded a module that was not loaded before';
/** Synchronous functions that need no note, because opening the file was noted. */
const HARMLESS_SYNC: ReadonlySet<string> = new Set(['closeSync', 'fsyncSync', 'fdatasyncSync', 'writeSync']);

const inAgent = (): Running | undefined => {
  const store = running.getStore();
  return store?.agentId === undefined ? undefined : store;
};
const nowOf = ({ thread }: Running): number => thread.seams.clock.now();
const elapsedOf = ({ thread }: Running): number => thread.seams.clock.monotonicMs();
const hrtimeOf = (agent: Running): bigint => BigInt(Math.floor(elapsedOf(agent) * 1e6));

/** The stack of the caller of `instead`. */
function stackOf(instead: Fn): string {
  const { stackTraceLimit } = Error;
  const holder = { stack: '' };
  Error.stackTraceLimit = LOOKED_AT_FRAMES;
  Error.captureStackTrace(holder, instead);
  Error.stackTraceLimit = stackTraceLimit;
  return holder.stack.split('\n').slice(1).join('\n');
}

/** A replacement that notes the call of `name`, with its place, and then calls the original. */
const noted =
  (name: string): Replacement['as'] =>
  ({ scheduler, agentId = '' }, original, self, given, instead) => {
    const where = stackOf(instead);
    if (!isOnTheWay(where)) {
      const place = placeOf(where);
      scheduler.note(`${agentId} called ${name}${place === undefined ? '' : ` at ${place}`}`);
    }
    return Reflect.apply(original, self, given);
  };

/** Whether a read is a side effect of printing, of a stack trace, or of loading a module, which is reported as such. */
const isOnTheWay = (where: string): boolean =>
  ['node:internal/console', 'node:internal/modules', 'prepareStackTrace'].some((name) =>
    where.includes(name),
  );

const filled: Replacement['as'] = ({ thread }, original, self, given) => {
  const result: unknown = Reflect.apply(original, self, given);
  fillRandom(bytesOf(given[0] as NodeJS.ArrayBufferView), thread.chance.next);
  return result;
};

/** Returns `value`, or passes it to the callback that is the last argument, as Node does. */
function giveTo(given: readonly unknown[], value: unknown): unknown {
  const callback = given.at(-1);
  if (typeof callback !== 'function') return value;
  // A microtask, so that it runs within the step.
  queueMicrotask(() => (callback as (error: null, given: unknown) => void)(null, value));
  return undefined;
}
const withoutCallback = (given: readonly unknown[]): unknown[] =>
  typeof given.at(-1) === 'function' ? given.slice(0, -1) : [...given];

/** The bytes of a view to fill, from `offset`, in elements. */
function partOf([target, offset = 0, size]: readonly unknown[]): Uint8Array {
  const bytes = bytesOf(target as NodeJS.ArrayBufferView);
  const width = (target as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
  const from = (offset as number) * width;
  return bytes.subarray(from, size === undefined ? undefined : from + (size as number) * width);
}

const TIME: readonly Replacement[] = [
  { holder: Date, name: 'now', as: nowOf },
  { holder: Object.getPrototypeOf(performance) as object, name: 'now', as: elapsedOf },
  { holder: process, name: 'uptime', as: (agent) => elapsedOf(agent) / 1_000 },
];

const CHANCE: readonly Replacement[] = [
  { holder: Math, name: 'random', as: ({ thread }) => thread.chance.next() },
  ...[Crypto.prototype, nodeCrypto].flatMap((holder): Replacement[] => [
    { holder, name: 'getRandomValues', as: filled },
    { holder, name: 'randomUUID', as: ({ thread }) => uuidOf(thread.chance.next) },
  ]),
  {
    holder: nodeCrypto,
    name: 'randomUUIDv7',
    as: (agent) => uuidOf(agent.thread.chance.next, nowOf(agent)),
  },
  {
    holder: nodeCrypto,
    name: 'randomBytes',
    as: ({ thread }, original, self, given) => {
      const bytes = Reflect.apply(original, self, withoutCallback(given)) as Uint8Array;
      fillRandom(bytes, thread.chance.next);
      return giveTo(given, bytes);
    },
  },
  ...['randomFill', 'randomFillSync'].map((name) => ({
    holder: nodeCrypto,
    name,
    as: (({ thread }, _original, _self, given) => {
      const plain = withoutCallback(given);
      const target = (randomFillSync as Fn)(...plain);
      fillRandom(partOf(plain), thread.chance.next);
      return giveTo(given, target);
    }) satisfies Replacement['as'],
  })),
  {
    holder: nodeCrypto,
    name: 'randomInt',
    as: ({ thread }, original, self, given) => {
      const plain = withoutCallback(given);
      // The original throws for invalid bounds.
      Reflect.apply(original, self, plain);
      const [min, max] = plain.length < 2 ? [0, plain[0] as number] : (plain as [number, number]);
      return giveTo(given, min + Math.floor(thread.chance.next() * (max - min)));
    },
  },
];

const NOTED: readonly Replacement[] = [
  ...Object.keys(fs)
    .filter((name) => name.endsWith('Sync') && !HARMLESS_SYNC.has(name))
    .map((name) => ({ holder: fs, name, as: noted(name) })),
  ...['execSync', 'execFileSync', 'spawnSync'].map((name) => ({
    holder: childProcess,
    name,
    as: noted(name),
  })),
  ...temporalReads(),
];

function temporalReads(): Replacement[] {
  const { Temporal } = globalThis as { Temporal?: { Now: object } };
  if (Temporal === undefined) return [];
  return Object.getOwnPropertyNames(Temporal.Now)
    .filter((name) => name !== 'timeZoneId')
    .map((name) => ({ holder: Temporal.Now, name, as: noted(`Temporal.Now.${name}`) }));
}

type Undo = () => void;

const valueAt = (holder: object, name: string): unknown =>
  Object.getOwnPropertyDescriptor(holder, name)?.value;

/** Replaces a property; returns a function that restores it, unless it was replaced again meanwhile. */
function put(holder: object, name: string, value: unknown): Undo {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  if (before === undefined || before.configurable !== true) return () => undefined;
  Object.defineProperty(holder, name, { ...before, value });
  return () => {
    if (valueAt(holder, name) === value) Object.defineProperty(holder, name, before);
  };
}

function replace({ holder, name, as }: Replacement): Undo {
  const original = valueAt(holder, name) as Fn | undefined;
  if (typeof original !== 'function') return () => undefined;
  const instead: Fn = function (...given) {
    const agent = inAgent();
    return agent === undefined
      ? Reflect.apply(original, this, given)
      : as(agent, original, this, given, instead);
  };
  return put(holder, name, Object.assign(instead, original));
}

/** Replaces `Date`, for calls without arguments only. */
function replaceDate(): Undo[] {
  const RealDate = valueAt(globalThis, 'Date') as DateConstructor;
  const instead = new Proxy(RealDate, {
    construct: (target, given, newTarget) => {
      const agent = given.length === 0 ? inAgent() : undefined;
      return Reflect.construct(target, agent === undefined ? given : [nowOf(agent)], newTarget);
    },
    apply: (target, self, given) => {
      const agent = inAgent();
      return agent === undefined ? Reflect.apply(target, self, given) : String(new RealDate(nowOf(agent)));
    },
  });
  return [put(globalThis, 'Date', instead), put(RealDate.prototype, 'constructor', instead)];
}

function replaceHrtime(): Undo {
  const original = valueAt(process, 'hrtime') as Fn & { bigint: () => bigint };
  const instead: Fn = (former?: [number, number]) => {
    const agent = inAgent();
    if (agent === undefined) return original.call(process, former) as unknown;
    const sinceNs =
      hrtimeOf(agent) - (former === undefined ? 0n : BigInt(former[0]) * 10n ** 9n + BigInt(former[1]));
    return [Number(sinceNs / 10n ** 9n), Number(sinceNs % 10n ** 9n)];
  };
  const bigint = (): bigint => {
    const agent = inAgent();
    return agent === undefined ? original.bigint() : hrtimeOf(agent);
  };
  return put(process, 'hrtime', Object.assign(instead, { bigint }));
}

function watchModuleLoads(): Undo {
  const load: LoadHookSync = (url, context, next) => {
    const agent = inAgent();
    if (agent !== undefined && !url.startsWith('node:')) {
      const { scheduler, agentId = '' } = agent;
      const where = stackOf(load as Fn);
      scheduler.fail(simulationEscaped(agentId, `${LOADS_MODULE} (${url})`, { resource: 'import', where }));
    }
    return next(url, context);
  };
  // Not imported by name: an old Node would fail at the import, before its version is checked.
  const hooks = nodeModule.registerHooks({ load });
  return () => hooks.deregister();
}

let simulations = 0;
let undo: Undo[] = [];

/** Replaces the globals, until `restoreGlobalReads` is called as often. */
export function replaceGlobalReads(): void {
  simulations += 1;
  if (simulations > 1) return;
  undo = [
    ...[...TIME, ...CHANCE, ...NOTED].map(replace),
    ...replaceDate(),
    replaceHrtime(),
    watchModuleLoads(),
  ];
  // Updates named imports of built-in modules.
  syncBuiltinESMExports();
}

export function restoreGlobalReads(): void {
  simulations -= 1;
  if (simulations > 0) return;
  for (const restore of undo.splice(0).reverse()) restore();
  syncBuiltinESMExports();
}

/** The bytes of a view or buffer. */
const bytesOf = (view: NodeJS.ArrayBufferView | ArrayBufferLike): Uint8Array =>
  ArrayBuffer.isView(view)
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : new Uint8Array(view);

function fillRandom(bytes: Uint8Array, random: Random): void {
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
}

/** A UUID of version 4, or of version 7 if `atMs` is given, Unix milliseconds (RFC 9562). */
function uuidOf(random: Random, atMs?: number): string {
  const bytes = Buffer.alloc(16);
  fillRandom(bytes, random);
  if (atMs !== undefined) bytes.writeUIntBE(atMs, 0, 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | (atMs === undefined ? 0x40 : 0x70);
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
