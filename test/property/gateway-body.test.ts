import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBody } from '../../gateway/http/body.ts';

const MAX_BYTES = 1_000;

/** What a body says of its length: nothing, the truth, or something else. */
const Declared = fc.oneof(
  fc.constant('nothing' as const),
  fc.constant('the truth' as const),
  fc.nat({ max: 2 * MAX_BYTES }),
  fc.constantFrom('-1', '1e3', '0x10', '10, 10', ' '),
);

const numbered = (sizes: readonly number[]): Uint8Array[] =>
  sizes.map((size, at) => new Uint8Array(size).fill(at % 256));

function requestOf(chunks: readonly Uint8Array[], length: string | undefined) {
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const chunk = chunks[pulled++];
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  const headers = new Headers(length === undefined ? {} : { 'content-length': length });
  // As a server makes it: a Request made of these would say its own length.
  return { request: { headers, body } as Request, pulled: () => pulled };
}

describe('The body of a request (DESIGN 8)', () => {
  it('is read whole or refused, by what comes and not by what was said, and no further than it has to be', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 12 }),
        Declared,
        async (sizes, declared) => {
          const total = sizes.reduce((sum, size) => sum + size, 0);
          const said =
            declared === 'nothing' ? undefined : String(declared === 'the truth' ? total : declared);
          const chunks = numbered(sizes);
          const { request, pulled } = requestOf(chunks, said);
          let counted = 0;
          const outcome = await readBody(request, {
            maxBytes: MAX_BYTES,
            onBytes: (chunk) => {
              counted += chunk.length;
            },
          }).catch((error: { code: string }) => error.code);
          const isNumber = said === undefined || /^\d+$/.test(said.trim());
          if (!isNumber || said?.trim() === '') expect([outcome, pulled()]).toEqual(['INVALID_OPTIONS', 0]);
          else if (Number(said ?? 0) > MAX_BYTES) expect([outcome, pulled()]).toEqual(['BODY_TOO_LARGE', 0]);
          else if (total > MAX_BYTES) expect(outcome).toBe('BODY_TOO_LARGE');
          else if (said !== undefined && Number(said) !== total) expect(outcome).toBe('INVALID_OPTIONS');
          else expect(Buffer.concat(outcome as Uint8Array[])).toEqual(Buffer.concat(chunks));
          expect(counted).toBeLessThanOrEqual(MAX_BYTES);
          // At most the chunk that is one too many.
          const fitting = sizes.findIndex(
            (_, at) => sizes.slice(0, at + 1).reduce((a, b) => a + b, 0) > MAX_BYTES,
          );
          if (fitting !== -1) expect(pulled()).toBeLessThanOrEqual(fitting + 1);
        },
      ),
      { numRuns: 500 },
    );
  });
});
