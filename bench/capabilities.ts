import { capability } from 'orrery';
import { z } from 'zod';

const Finding = z.object({
  file: z.string(),
  line: z.int().positive(),
  severity: z.string(),
  rule: z.string(),
  message: z.string(),
  evidence: z.array(z.string()).readonly(),
  confidence: z.number(),
});

/** Looks at one finding. */
export const inspect = capability({
  id: 'bench.inspect',
  description: 'Judge one finding',
  input: Finding,
  output: z.object({ accepted: z.boolean(), line: z.int() }),
});

/** How many findings a receiver has handled; asked by a sender after its last, it also says that all are through. */
export const handled = capability({
  id: 'bench.handled',
  description: 'Say how many findings were handled',
  input: z.object({}),
  output: z.object({ handled: z.int() }),
});

const Burst = z.object({ count: z.int().nonnegative(), width: z.int().positive() });
const Count = Burst.omit({ width: true });

/** Has a sender tell its receivers so many findings; resolves when all have been handled. */
export const tellBurst = capability({
  id: 'bench.tell-burst',
  description: 'Tell findings',
  input: Count,
  output: z.object({ done: z.int() }),
});

/** Has a sender ask its receivers about so many findings, `width` at a time. */
export const askBurst = capability({
  id: 'bench.ask-burst',
  description: 'Ask about findings',
  input: Burst,
  output: z.object({ done: z.int() }),
});

/** So many findings, one after the other. */
export const findings = capability({
  id: 'bench.findings',
  description: 'Stream findings',
  input: Count,
  output: Finding,
});

/** Has a reader read so many findings of one stream. */
export const readBurst = capability({
  id: 'bench.read-burst',
  description: 'Read a stream of findings',
  input: Count,
  output: z.object({ done: z.int() }),
});
