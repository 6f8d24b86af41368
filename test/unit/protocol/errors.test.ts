import { describe, expect, it } from 'vitest';
import {
  actorDied,
  embedderError,
  errorFromData,
  errorToData,
  errorWithStack,
  invalidOptions,
  OrreryError,
  refused,
  stackOf,
  toldDetails,
  withoutStack,
} from '../../../runtime/protocol/errors.ts';

const HERE = 'errors.test.ts';
const thrown = new Error('no database');
const died = actorDied('mars', 'no database', thrown);

describe('The stack of what was thrown', () => {
  it('is of what code threw, not of the error that tells of it', () => {
    expect(stackOf(died)).toBe(thrown.stack);
    expect(stackOf(actorDied('mars', 'its process ended'))).toBeUndefined();
    expect(stackOf('a text')).toBeUndefined();
    expect(stackOf(withoutStack(new Error('a loop')))).toBeUndefined();
  });

  it('is of an error with a code where that is a mistake of the code that ran', () => {
    const mistake = invalidOptions('ms', 'soon', 'a number');
    expect([stackOf(mistake), stackOf(refused('no'), true)]).toEqual([undefined, undefined]);
    expect(stackOf(mistake, true)).toContain(HERE);
  });

  it('has those of what it was caused by, and is bounded', () => {
    const causes = (depth: number): Error =>
      depth === 0 ? new Error('first') : new Error(`later ${depth}`, { cause: causes(depth - 1) });
    const stack = stackOf(causes(10)) as string;
    expect(stack.split('caused by: ')).toHaveLength(3);
    const endless = new Error('round');
    endless.cause = endless;
    expect(stackOf(endless)).toContain(HERE);
    expect(stackOf(new Error('x'.repeat(100_000)))?.length).toBe(4_000);
  });

  it('is not looked for in what throws when it is looked at', () => {
    const hostile = Object.defineProperty(new Error('mine'), 'stack', {
      get: () => {
        throw new Error('do not look');
      },
    });
    expect(stackOf(hostile)).toBeUndefined();
    expect(errorWithStack(hostile)).toEqual({ code: 'HANDLER_FAILED', message: 'mine' });
  });
});

describe('An error as data', () => {
  const data = errorWithStack(died);

  it('has no stack unless that is asked for', () => {
    expect(errorToData(died)).toEqual({
      code: 'ACTOR_DIED',
      message: died.message,
      details: { agentId: 'mars', reason: 'no database' },
    });
    expect(errorToData(thrown)).toEqual({ code: 'HANDLER_FAILED', message: 'no database' });
    expect(data).toEqual({ ...errorToData(died), stack: thrown.stack });
  });

  it('is for the embedder an error with the stack in its details, and a cause that has it', () => {
    const error = embedderError(data);
    expect(error.details).toEqual({ agentId: 'mars', reason: 'no database', stack: thrown.stack });
    expect(error.cause).toMatchObject({ message: 'no database', stack: thrown.stack });
    expect(embedderError(errorToData(died))).not.toHaveProperty('cause');
  });

  it('is for an agent an error that shows none, and hands it on', () => {
    const error = errorFromData(data);
    expect(error.details).toEqual({ agentId: 'mars', reason: 'no database' });
    expect([error.cause, error.stack?.includes(String(thrown.stack))]).toEqual([undefined, false]);
    expect(JSON.stringify(Object.getOwnPropertyNames(error))).not.toContain('stacks');
    expect(errorWithStack(actorDied('venus', error.message, error)).stack).toBe(thrown.stack);
  });

  it('keeps the embedder’s stack out of what is told to others, also in a copy of the error', () => {
    const error = embedderError(data);
    const copy = new OrreryError(error.code, error.message, {
      details: { ...error.details, agentId: 'x' },
      cause: error,
    });
    for (const one of [error, copy]) {
      expect(toldDetails(one)).not.toHaveProperty('stack');
      expect(JSON.stringify(errorToData(one))).not.toContain(HERE);
      expect(errorWithStack(one).stack).toBe(thrown.stack);
    }
  });
});
