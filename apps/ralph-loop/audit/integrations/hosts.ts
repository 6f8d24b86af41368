import type { Defect } from '../evidence.ts';
import { knownStart } from '../syntax/known-start.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { hostOf, isFixedMachine, isLocal } from './addresses.ts';
import { requestOf } from './requests.ts';

const SOCKETS = new Set(['global:WebSocket', 'ws:*', 'ws:WebSocket', 'global:EventSource', 'eventsource:*']);
/** Names of what is an address to speak to; others (namespaces, links for readers) may be anything. */
const SERVICE_NAME =
  /^(base|api|service|server|backend|webhook|gateway|auth|token)_?(ur[il]|host|base|endpoint)$|_(api|service|server|backend|webhook|gateway|auth|token)_?(ur[il]|host|base|endpoint)$|endpoint$/i;

/** Services elsewhere that are spoken to without TLS. */
export function checkPlainHttp(node: Node, scope: Scope): Defect | undefined {
  const address = addressIn(node, scope);
  const start = address && knownStart(address, scope);
  if (start === undefined || !/^(http|ws):\/\//i.test(start.text)) return undefined;
  const host = hostOf(start.text, start.isWhole);
  if (host === undefined || isLocal(host)) return undefined;
  return {
    rule: 'integrations.plain-http',
    offset: start.literal.start,
    message: `${host} is spoken to without encryption`,
  };
}

/** The address that a node speaks to or keeps for it. */
function addressIn(node: Node, scope: Scope): Node | undefined {
  switch (node.type) {
    case 'CallExpression':
      return requestOf(node, scope)?.url;
    case 'NewExpression':
      return SOCKETS.has(referenceOf(node.callee, scope) ?? '') ? node.arguments[0] : undefined;
    case 'VariableDeclarator':
      return node.id.type === 'Identifier' && SERVICE_NAME.test(node.id.name)
        ? (node.init ?? undefined)
        : undefined;
    case 'Property':
      return SERVICE_NAME.test(keyName(node.key, node.computed) ?? '') ? node.value : undefined;
    default:
      return undefined;
  }
}

const HOST_NAME = /^(host|hostname)$/;
const URL_TEXT = /^(https?|wss?|tcp|rediss?|mongodb|postgres(ql)?|mysql|amqps?|mqtts?|ftp):\/\//i;

/** Machines named by their number, in URLs and as `host`. */
export function checkFixedIp(node: Node, scope: Scope): Defect | undefined {
  const host = node.type === 'Property' ? hostGiven(node) : hostIn(node, scope);
  if (host === undefined || !isFixedMachine(host)) return undefined;
  const message = `The machine ${host} is written into the program`;
  return { rule: 'integrations.hard-coded-ip', offset: node.start, message };
}

function hostGiven({ key, computed, value }: NodeOf<'Property'>): string | undefined {
  if (!HOST_NAME.test(keyName(key, computed) ?? '')) return undefined;
  const given = unwrapped(value);
  return given.type === 'Literal' && typeof given.value === 'string' ? given.value : undefined;
}

function hostIn(node: Node, scope: Scope): string | undefined {
  if (node.type !== 'Literal' && node.type !== 'TemplateLiteral') return undefined;
  const start = knownStart(node, scope);
  return start !== undefined && URL_TEXT.test(start.text) ? hostOf(start.text, start.isWhole) : undefined;
}

const KEY_AT_END = /[?&](api_?key|access_?token|client_?secret|secret|passw(or)?d)=$/i;

/** A template of a URL with a key in its query. */
export function checkKeyInUrl({ quasis }: NodeOf<'TemplateLiteral'>): Defect | undefined {
  const before = quasis.slice(0, -1).findIndex(({ value }) => KEY_AT_END.test(value.raw));
  const isUrl = quasis.some(({ value }) => /^https?:\/\/|^\/|\?/.test(value.raw));
  const quasi = quasis[before];
  return quasi !== undefined && isUrl ? { rule: 'integrations.key-in-url', offset: quasi.start } : undefined;
}
