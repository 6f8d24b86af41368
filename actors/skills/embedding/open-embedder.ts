import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { isInstalled, PACKAGES_FOR, requirePackages } from '../../../runtime/protocol/optional-packages.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { ActorContext } from '../../../runtime/public.ts';
import type { Embedder } from './embedder.ts';
import { EmbeddingOptions } from './embedding-options.ts';
import { localEmbedder } from './local-embedder.ts';

/** What an embedder reaches the outside by. It works as long as the context does: that of an agent's start, for all of its life. */
export interface EmbedderDeps {
  readonly ctx: Pick<ActorContext, 'self' | 'effect' | 'offload'>;
  readonly clock: Pick<Clock, 'setTimer'>;
  /** Whether a package is installed. @default it is looked for */
  readonly isInstalled?: (name: string) => boolean;
}

/** The embedder, or one sentence that says why there is none. */
export type OpenedEmbedder =
  | { readonly embedder: Embedder; readonly whyNone: undefined }
  | { readonly embedder: undefined; readonly whyNone: string };

/** Opens what the options say. Throws INVALID_OPTIONS, and PEERS_MISSING for packages that the options need. */
export async function openEmbedder(options: EmbeddingOptions, deps: EmbedderDeps): Promise<OpenedEmbedder> {
  const parsed = parseOptions(EmbeddingOptions, options, 'embedding');
  if (parsed === 'none') return without('embedding is "none"');
  if (parsed === 'auto') {
    const missing = PACKAGES_FOR.localEmbeddings.filter((name) => !(deps.isInstalled ?? isInstalled)(name));
    if (missing.length > 0)
      return without(`embedding is "auto", and not installed: npm install ${missing.join(' ')}`);
  }
  if (typeof parsed === 'string') {
    requirePackages('embedding "local"', PACKAGES_FOR.localEmbeddings);
    return opened(localEmbedder(deps.ctx));
  }
  requirePackages('embedding by an endpoint', PACKAGES_FOR.embeddingEndpoint);
  const { EndpointEmbedder } = await import('./endpoint-embedder.ts');
  const { ctx, clock } = deps;
  return opened(new EndpointEmbedder(parsed, { ctx, clock, apiKey: keyIn(parsed.apiKey) }));
}

const opened = (embedder: Embedder): OpenedEmbedder => ({ embedder, whyNone: undefined });
const without = (whyNone: string): OpenedEmbedder => ({ embedder: undefined, whyNone });

function keyIn(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined) return undefined;
  const name = apiKey.slice('env:'.length);
  const key = process.env[name];
  if (key === undefined || key === '')
    throw invalidOptions('embedding.apiKey', apiKey, `an environment variable that is set: ${name} is not`);
  return key;
}
