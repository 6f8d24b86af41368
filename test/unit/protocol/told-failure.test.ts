import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, parseInput, parseOutput } from '../../../runtime/protocol/capability.ts';
import {
  actorDied,
  errorFromData,
  poison,
  refused,
  storeFailed,
  supervisorGaveUp,
} from '../../../runtime/protocol/errors.ts';
import { toldFailure } from '../../../runtime/protocol/told-failure.ts';

const SECRET = 'postgres://admin:secret@db:5432';

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

const leaky = capability({
  id: 'leaky.do',
  description: 'Its schemas throw',
  input: z.string().refine(() => {
    throw new Error(SECRET);
  }),
  output: z.string().refine(() => {
    throw new Error(SECRET);
  }),
});

describe('What a caller is told of an error', () => {
  it.each([
    ['a bare error', new Error(SECRET)],
    ['a text', SECRET],
    ['a death', actorDied('mars', SECRET)],
    ['many deaths', poison('mars', 3, { reason: SECRET })],
    ['an agent that was given up', errorFromData(supervisorGaveUp('mars', { reason: SECRET }))],
    ['a disk', storeFailed('/var/secret.db', 'write', SECRET)],
    ['a schema that throws at its input', thrownBy(() => parseInput(leaky, 'x'))],
    ['a schema that throws at its answer', thrownBy(() => parseOutput(leaky, 'x', 'mars'))],
  ])('is nothing of what was thrown: %s', (_, error) => {
    const noted: unknown[] = [];
    const told = toldFailure(error, (one) => {
      noted.push(one);
      return 'e-1';
    });
    expect(JSON.stringify(told)).not.toContain('secret');
    expect(told).toMatchObject({ message: expect.stringMatching(/^[A-Z].{10,}/) as string, id: 'e-1' });
    expect(noted).toEqual([error]);
  });

  it.each([
    ['a refusal', refused('Not on Sundays')],
    [
      'input that does not fit',
      thrownBy(() =>
        parseInput(capability({ id: 'a.b', description: 'A', input: z.number(), output: z.string() }), 'two'),
      ),
    ],
  ])('is all that was said on purpose: %s', (_, error) => {
    const { code, message } = error as { code: string; message: string };
    const note = (): string => {
      throw new Error('nothing is to be noted');
    };
    expect(toldFailure(error, note)).toEqual({ code, message });
  });
});
