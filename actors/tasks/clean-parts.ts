import type { FirewallGuard } from '../../runtime/protocol/firewall.ts';
import { mayNotGoOut } from '../../runtime/protocol/edge-errors.ts';
import type { JsonValue } from '../../runtime/protocol/json-value.ts';
import { type Artifact, Part, type TaskMessage } from '../../runtime/protocol/task.ts';
import { isObject } from './capability-meant.ts';

type Clean = FirewallGuard['sanitizeResponse'];

/** What goes out of an artifact: each of its parts, its name, description and metadata. Rejects with REFUSED. */
export async function cleanArtifact(artifact: Artifact, clean: Clean): Promise<Artifact> {
  const { name, description, metadata, parts, ...ids } = artifact;
  return {
    ...ids,
    ...(await cleanFacts({ name, description, metadata }, clean)),
    parts: await cleanParts(parts, clean),
  };
}

/** What goes out of a message: each of its parts, and its metadata. Rejects with REFUSED. */
export async function cleanMessage(message: TaskMessage, clean: Clean): Promise<TaskMessage> {
  const { parts, metadata, ...ids } = message;
  const cleaned = await cleanParts(parts, clean);
  return {
    ...ids,
    ...(await cleanFacts({ metadata }, clean)),
    parts: cleaned.length === 0 ? [{ text: '' }] : cleaned,
  };
}

async function cleanParts(parts: readonly Part[], clean: Clean): Promise<Part[]> {
  const cleaned = await Promise.all(parts.map((part) => cleanPart(part, clean)));
  return cleaned.filter((part) => part !== undefined);
}

/** Text and data are given as they are; a file as what says which: its bytes in base64 or its URL, its type and its name. */
async function cleanPart(part: Part, clean: Clean): Promise<Part | undefined> {
  const { metadata, ...said } = part;
  if ('raw' in said || 'url' in said) return cleanFile(said, await cleanFacts({ metadata }, clean), clean);
  const { mediaType, filename } = said;
  const facts = await cleanFacts({ mediaType, filename, metadata }, clean);
  const cleaned = await clean('text' in said ? said.text : said.data);
  if (cleaned === undefined) return undefined;
  return 'text' in said && typeof cleaned === 'string'
    ? { ...facts, text: cleaned }
    : { ...facts, data: cleaned };
}

async function cleanFile(said: object, facts: Facts, clean: Clean): Promise<Part | undefined> {
  const cleaned = await clean(said);
  if (cleaned === undefined) return undefined;
  const file = Part.safeParse(cleaned);
  if (!file.success) throw mayNotGoOut();
  return { ...file.data, ...facts };
}

interface Facts {
  name?: string;
  description?: string;
  mediaType?: string;
  filename?: string;
  metadata?: Record<string, JsonValue>;
}

/** What is no text any more where it was one, and so on, is left out. */
async function cleanFacts(
  facts: { readonly [Name in keyof Facts]: Facts[Name] | undefined },
  clean: Clean,
): Promise<Facts> {
  const cleaned: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined) continue;
    const kept = await clean(value);
    if (typeof value === 'string' ? typeof kept === 'string' : isObject(kept))
      cleaned[name] = kept as JsonValue;
  }
  return cleaned;
}
