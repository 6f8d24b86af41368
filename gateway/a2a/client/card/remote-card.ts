import { z } from 'zod';
import { DELEGATION_URI, DelegationParams } from '../../../../runtime/protocol/a2a-extension.ts';
import { faultsOf } from '../../../../runtime/protocol/payload-faults.ts';
import { invalidCard } from '../../../../runtime/protocol/errors.ts';
import type { RemoteIdentity } from '../../../../runtime/protocol/remote-agent.ts';
import { optional } from '../../wire/parts.ts';

/** How an agent is reached: one URL, one binding, one version. */
export interface RemoteInterface {
  readonly url: URL;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly version: '1.0' | '0.3' | '0.1';
  readonly tenant: string | undefined;
}

/** What a client needs of the card of an agent elsewhere, whatever its version of A2A. `raw` is the whole card. */
export interface RemoteCard extends RemoteIdentity {
  readonly interfaces: readonly RemoteInterface[];
  readonly streaming: boolean;
  readonly raw: Readonly<Record<string, unknown>>;
}

const Text = z.string().min(1);
const Wired = z.object({
  name: Text,
  description: optional(z.string()),
  version: optional(z.string()),
  url: optional(z.string()),
  protocolVersion: optional(z.string()),
  preferredTransport: optional(z.string()),
  additionalInterfaces: optional(z.array(z.object({ url: Text, transport: Text }))),
  supportedInterfaces: optional(
    z.array(
      z.object({
        url: Text,
        protocolBinding: optional(z.string()),
        protocolVersion: optional(z.string()),
        tenant: optional(z.string()),
      }),
    ),
  ),
  capabilities: optional(
    z.object({
      streaming: optional(z.boolean()),
      extensions: optional(z.array(z.object({ uri: Text, params: optional(z.unknown()) }))),
    }),
  ),
  skills: optional(
    z.array(
      z.object({
        id: Text,
        name: optional(z.string()),
        description: optional(z.string()),
        tags: optional(z.array(z.string())),
      }),
    ),
  ),
});
type Wired = z.output<typeof Wired>;

/** Reads a card of any version; `from` is where it was found. Throws INVALID_CARD naming every field at fault. */
export function readCard(value: unknown, from: URL): RemoteCard {
  const parsed = Wired.safeParse(value);
  if (!parsed.success) throw invalidCard(`${from.href}: ${faultsOf(parsed.error, value)}`);
  const { name, description = '', version = '', skills = [], capabilities } = parsed.data;
  const extensions = capabilities?.extensions ?? [];
  const ours = extensions.find(({ uri }) => uri === DELEGATION_URI);
  return {
    name,
    description,
    version,
    skills: skills.map((skill) => ({
      id: skill.id,
      name: skill.name ?? skill.id,
      description: skill.description ?? '',
      tags: skill.tags ?? [],
    })),
    interfaces: interfacesOf(parsed.data, from),
    streaming: capabilities?.streaming ?? false,
    delegation: DelegationParams.safeParse(ours?.params).data,
    raw: value as Record<string, unknown>,
  };
}

/** The interfaces in the card's order, each once, without those of unknown bindings. */
function interfacesOf(card: Wired, from: URL): RemoteInterface[] {
  const listed = [...newInterfaces(card), ...oldInterfaces(card)].flatMap(({ url, ...rest }) => {
    const absolute = URL.parse(url, from.href);
    const isHttp = absolute?.protocol === 'http:' || absolute?.protocol === 'https:';
    return absolute !== null && isHttp ? [{ ...rest, url: absolute }] : [];
  });
  const seen = new Set<string>();
  return listed.filter(({ url, binding, version, tenant }) => {
    const key = JSON.stringify([url.href, binding, version, tenant]);
    return !seen.has(key) && seen.add(key);
  });
}

type Listed = Omit<RemoteInterface, 'url'> & { readonly url: string };

const newInterfaces = ({ supportedInterfaces = [] }: Wired): Listed[] =>
  supportedInterfaces.flatMap(({ url, protocolBinding = 'JSONRPC', protocolVersion = '1.0', tenant }) => {
    const [binding, version] = [bindingOf(protocolBinding), versionOf(protocolVersion)];
    if (binding === undefined || version === undefined) return [];
    return [{ url, binding, version, tenant: tenant === '' ? undefined : tenant }];
  });

/** The interfaces of a card without a version: it may be of 0.2 or of 0.1, so both are tried. */
function oldInterfaces(card: Wired): Listed[] {
  const { url, protocolVersion, preferredTransport = 'JSONRPC', additionalInterfaces = [] } = card;
  if (url === undefined) return [];
  const versions: RemoteInterface['version'][] =
    protocolVersion === undefined
      ? card.supportedInterfaces === undefined
        ? ['0.3', '0.1']
        : ['0.3']
      : [versionOf(protocolVersion) ?? '0.3'];
  return versions.flatMap((version) =>
    [{ url, transport: preferredTransport }, ...additionalInterfaces].flatMap((one) => {
      const binding = bindingOf(one.transport);
      if (binding === undefined || (version === '0.1' && binding !== 'JSONRPC')) return [];
      return [{ url: one.url, binding, version, tenant: undefined }];
    }),
  );
}

function bindingOf(name: string): RemoteInterface['binding'] | undefined {
  const upper = name.toUpperCase();
  return upper === 'JSONRPC' || upper === 'HTTP+JSON' ? upper : undefined;
}

/** The version without its patch number; 0.2 is served as 0.3. */
function versionOf(text: string): RemoteInterface['version'] | undefined {
  const [major, minor] = text.split('.');
  if (major === '1') return '1.0';
  if (major !== '0') return undefined;
  return minor === '1' ? '0.1' : '0.3';
}
