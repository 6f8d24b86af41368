import { createHash } from 'node:crypto';
import type { Edge, Routes, ServedRoute } from '../../http/gateway-part.ts';
import { isObject } from '../../http/json-text.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import type { CardSigner } from '../wire/card-signature.ts';
import type { CardService } from './cards.ts';
import type { Json } from '../wire/json.ts';
import type { Dialect } from '../wire/dialect.ts';

/**
 * - `dialects` whose cards the served one is, the newest first.
 * - `amend`    what else says what stands on a card; asked with every request, since it may say something else each time.
 */
export interface CardRoutesDeps {
  readonly cards: CardService;
  readonly team: ServedTeam;
  readonly dialects: readonly Dialect[];
  readonly edge: Edge;
  readonly signer?: CardSigner | undefined;
  readonly amend?: AmendCard | undefined;
}

/** A card as it is to be shown. It is not to take long: whoever asks for the card waits. */
export type AmendCard = (
  agentId: string | undefined,
  card: { readonly [key: string]: Json },
) => Promise<{ readonly [key: string]: Json }>;

/** Where cards are: since 0.3, and before (C-01). */
const PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

export const CARD_ROUTES: readonly ServedRoute[] = PATHS.flatMap((path) => [
  { method: 'GET', path, serves: 'the card of the system' },
  { method: 'GET', path: `/{agentId}${path}`, serves: 'the card of an agent' },
]);

/** How long a client may use a card before it asks again. */
const MAX_AGE_S = 60;
/** How many cards are cached, by the gateway's name and agent. */
const MAX_READY = 1_000;

interface ReadyCard {
  /** What it was made of. */
  readonly unsigned: string;
  readonly body: string;
  readonly etag: string;
  /** When the card last changed, as far as that is known here. */
  readonly modifiedAtMs: number;
}

/** Which card is asked for. `version`: with the fields of this version alone; undefined: with those of all. */
interface CardAsked {
  readonly agentId: string | undefined;
  readonly baseUrl: string;
  readonly version: string | undefined;
}

/** Serves the cards: to everybody, at both paths the same. */
export function mountCards(app: Routes, deps: CardRoutesDeps): void {
  const ready = readyCards(deps);
  const answer = async (request: Request, agentId: string | undefined): Promise<Response> => {
    const version = new URL(request.url).searchParams.get('version') ?? undefined;
    if (version !== undefined && !deps.dialects.some((dialect) => dialect.version === version))
      return Response.json({ error: unknownVersion(deps.dialects, version) }, { status: 400 });
    const card = await ready({ agentId, baseUrl: deps.edge.baseUrl(request), version });
    if (card === undefined)
      return Response.json(
        { error: { code: 'AGENT_NOT_FOUND', message: `There is no agent "${agentId}"` } },
        { status: 404 },
      );
    return cardResponse(request, card);
  };
  for (const path of PATHS) {
    app.get(path, (context) => answer(context.req.raw, undefined));
    app.get(`/:agentId${path}`, (context) => answer(context.req.raw, context.req.param('agentId')));
  }
}

/** Caches cards until the team, or what amends them, changes. */
function readyCards(deps: CardRoutesDeps): (asked: CardAsked) => Promise<ReadyCard | undefined> {
  let revision = deps.team.revision;
  const cards = new Map<string, Promise<ReadyCard | undefined>>();
  return (asked) => {
    const { agentId, baseUrl, version } = asked;
    if (revision !== deps.team.revision || cards.size >= MAX_READY) cards.clear();
    revision = deps.team.revision;
    const key = JSON.stringify([agentId ?? null, baseUrl, version ?? null]);
    const known = cards.get(key);
    if (known !== undefined && deps.amend === undefined && !deps.cards.isLive) return known;
    const made = makeCard(deps, asked, known);
    // What nobody has by this name is not worth a place.
    if (agentId !== undefined && deps.team.card(agentId) === undefined) return made;
    cards.set(key, made);
    // After a failure the next request tries again.
    made.catch(() => cards.get(key) === made && cards.delete(key));
    return made;
  };
}

async function makeCard(
  { cards, dialects, signer, amend, team, edge }: CardRoutesDeps,
  { agentId, baseUrl, version }: CardAsked,
  former: Promise<ReadyCard | undefined> | undefined,
): Promise<ReadyCard | undefined> {
  const card = cards.card(agentId, baseUrl);
  if (card === undefined) return undefined;
  const chosen = dialects.filter((dialect) => version === undefined || dialect.version === version);
  const written = chosen.map((dialect) => dialect.writeCard(card)).reduce(merge, {});
  const merged = version === undefined ? withOlderInterfaces(written) : written;
  // What others add is a field of no version.
  const isAmended = amend !== undefined && version === undefined && isObject(merged);
  const shown = isAmended ? await amend(agentId, merged) : merged;
  const unsigned = JSON.stringify(shown);
  const before = await former?.catch(() => undefined);
  if (before?.unsigned === unsigned) return before;
  const body = signer === undefined ? unsigned : JSON.stringify(await signer(shown));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const modifiedAtMs = before === undefined ? team.modifiedAtMs : edge.seams.clock.now();
  return { unsigned, body, etag, modifiedAtMs };
}

const MAX_SHOWN = 20;

const unknownVersion = (dialects: readonly Dialect[], version: string) => ({
  code: 'VERSION_NOT_SUPPORTED',
  message: `version is "${version.slice(0, MAX_SHOWN)}", expected one of ${dialects.map((dialect) => dialect.version).join(', ')}`,
});

/**
 * The card of a dialect with what another one has beside: each client finds the fields that it knows. Where both have a
 * field, objects are merged, and of anything else the first one counts.
 */
export function merge(one: Json, other: Json): Json {
  if (!isObject(one) || !isObject(other)) return one;
  const merged: Record<string, Json> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const own = merged[name];
    merged[name] = own === undefined ? value : merge(own, value);
  }
  return merged;
}

/** What 0.3 has as fields of its own, as interfaces too: who reads 1.0 finds there the other versions. */
function withOlderInterfaces(card: Json): Json {
  if (!isObject(card)) return card;
  const { supportedInterfaces = [], additionalInterfaces } = card;
  if (!Array.isArray(additionalInterfaces) || !Array.isArray(supportedInterfaces)) return card;
  const older = (additionalInterfaces as readonly Json[])
    .flatMap((one) => (isObject(one) ? [one] : []))
    .map(({ url = '', transport = '' }) => ({
      url,
      protocolBinding: transport,
      protocolVersion: '0.3',
    }));
  return { ...card, supportedInterfaces: [...(supportedInterfaces as readonly Json[]), ...older] };
}

function cardResponse({ headers }: Request, { body, etag, modifiedAtMs }: ReadyCard): Response {
  const facts = {
    ETag: etag,
    'Last-Modified': new Date(modifiedAtMs).toUTCString(),
    'Cache-Control': `public, max-age=${MAX_AGE_S}`,
    // Cards are public, also for pages of other origins.
    'Access-Control-Allow-Origin': '*',
  };
  if (isUnchanged(headers, etag, modifiedAtMs)) return new Response(null, { status: 304, headers: facts });
  return new Response(body, { headers: { ...facts, 'Content-Type': 'application/json' } });
}

/** As RFC 9110 has it: by the tag, and by the time only where no tag is said. */
function isUnchanged(headers: Headers, etag: string, modifiedAtMs: number): boolean {
  const tags = headers.get('If-None-Match');
  if (tags !== null) {
    const said = tags.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return said.includes('*') || said.includes(etag);
  }
  const since = Date.parse(headers.get('If-Modified-Since') ?? '');
  return !Number.isNaN(since) && Math.floor(modifiedAtMs / 1_000) * 1_000 <= since;
}
