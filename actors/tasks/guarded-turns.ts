import { ATTESTATION_URI, type FirewallGuard } from '../../runtime/protocol/firewall.ts';
import { InOrder } from '../../runtime/protocol/promises.ts';
import { type Artifact, Part, type TaskMessage } from '../../runtime/protocol/task.ts';
import type { NoteFailure } from '../../runtime/protocol/told-failure.ts';
import { cleanError } from '../tools/clean-error.ts';
import type { AgentTurns } from './agent-turns.ts';
import { agentMessage, failureParts } from './task-errors.ts';
import type { Turn, TurnOutcome } from './task-turns.ts';
import { mayNotGoOut } from '../../runtime/protocol/edge-errors.ts';
import type { JsonValue } from '../../runtime/protocol/json-value.ts';
import { isObject } from './turn-plan.ts';

export interface GuardedTurnsDeps {
  readonly firewall: FirewallGuard;
  readonly newId: () => string;
  readonly note: NoteFailure;
}

/**
 * The turns of agents behind a firewall: an agent is asked for what its owner may use, and what it says is kept as the firewall
 * gives it out. Nothing else of it is ever in a task, whoever reads that, and when.
 */
export function guardedTurns(
  turns: Pick<AgentTurns, 'run' | 'answer' | 'toolMeant'>,
  { firewall, newId, note }: GuardedTurnsDeps,
): Pick<AgentTurns, 'run' | 'answer'> {
  const clean = firewall.sanitizeResponse;
  return {
    async run(turn) {
      const { opening, message, memo } = turn;
      const { agentId, owner } = opening;
      const toolName = turns.toolMeant({ agentId, message, memo });
      try {
        await firewall.filterQuery(owner.principalId, toolName);
      } catch (error) {
        return { state: 'rejected', message: agentMessage(newId(), failureParts(error, note)) };
      }
      const guarded = new CleanTurn(turn, firewall);
      const outcome = await turns.run(guarded.turn);
      const made = await guarded.whenDone();
      if (outcome === undefined) return undefined;
      const said = outcome.message === undefined ? undefined : await cleanMessage(outcome.message, clean);
      if (outcome.state !== 'completed' || !firewall.attests) return { ...outcome, message: said };
      return attested(said ?? agentMessage(newId(), [{ text: 'The result is attested' }]), made, firewall);
    },
    answer(asked) {
      const answer = turns.answer(asked);
      if (answer === undefined) return undefined;
      const toolName = turns.toolMeant(asked);
      return async () => {
        await firewall.filterQuery(asked.owner.principalId, toolName);
        const answered = await answer().catch(async (error: unknown) => {
          throw await cleanError(error, clean);
        });
        const { metadata, ...said } = await cleanMessage(answered, clean);
        const attestation = await firewall.attest(said.parts);
        const facts = {
          ...metadata,
          ...(attestation && { [ATTESTATION_URI]: attestation }),
        };
        return { ...said, ...(Object.keys(facts).length > 0 && { metadata: facts }) };
      };
    },
  };
}

/** The parts that a turn has shown, by the ids of the artifacts. */
type Made = ReadonlyMap<string, readonly Part[]>;

/** The end of a turn, with the proof of what it has made. */
async function attested(message: TaskMessage, made: Made, firewall: FirewallGuard): Promise<TurnOutcome> {
  const artifacts = [...made].map(([artifactId, parts]) => ({ artifactId, parts: [...parts] }));
  const attestation = await firewall.attest(artifacts);
  const proof = { ...attestation, artifactIds: artifacts.map(({ artifactId }) => artifactId) };
  const metadata = { ...message.metadata, [ATTESTATION_URI]: proof };
  return { state: 'completed', message: { ...message, metadata } };
}

/** A turn whose output passes the firewall first, in order. What cannot pass fails the turn. */
class CleanTurn {
  readonly turn: Turn;
  readonly #firewall: FirewallGuard;
  readonly #order = new InOrder();
  readonly #made = new Map<string, readonly Part[]>();

  constructor(turn: Turn, firewall: FirewallGuard) {
    this.#firewall = firewall;
    const clean = firewall.sanitizeResponse;
    this.turn = {
      ...turn,
      working: (message) =>
        this.#order.add(async () => turn.working(message && (await cleanMessage(message, clean)))),
      artifact: (artifact, options = {}) =>
        this.#order.add(async () => {
          const cleaned = await cleanArtifact(artifact, clean);
          this.#keep(cleaned, options.append === true);
          turn.artifact(cleaned, options);
        }),
      partial: (artifact) => this.#order.add(async () => turn.partial(await cleanArtifact(artifact, clean))),
      remember: (memo) => this.#order.addNow(() => turn.remember(memo)),
      whenKept: async () => {
        await this.#order.whenDone();
        await turn.whenKept();
      },
    };
  }

  /** Resolves to what is made when all that was said is told, or was not to be. */
  async whenDone(): Promise<Made> {
    await this.#order.whenDone();
    return this.#made;
  }

  #keep({ artifactId, parts }: Artifact, append: boolean): void {
    if (!this.#firewall.attests) return;
    this.#made.set(artifactId, append ? [...(this.#made.get(artifactId) ?? []), ...parts] : parts);
  }
}

type Clean = FirewallGuard['sanitizeResponse'];

/** What goes out of an artifact: each of its parts, its name, description and metadata. Rejects with REFUSED. */
async function cleanArtifact(artifact: Artifact, clean: Clean): Promise<Artifact> {
  const { name, description, metadata, parts, ...ids } = artifact;
  return {
    ...ids,
    ...(await cleanFacts({ name, description, metadata }, clean)),
    parts: await cleanParts(parts, clean),
  };
}

/** What goes out of a message: each of its parts, and its metadata. Rejects with REFUSED. */
async function cleanMessage(message: TaskMessage, clean: Clean): Promise<TaskMessage> {
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

/** Fields after the firewall; one whose type has changed is left out. */
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
