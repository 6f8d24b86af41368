import type { Defect } from '../evidence.ts';
import { calledName } from '../syntax/called-name.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import type { Instrument } from './instrument.ts';

/** What there are as many of as there are users, visits, calls or moments. */
const UNBOUNDED =
  /^((user|customer|account|client|member|visitor|session|request|trace|span|correlation|message|order|transaction|payment|invoice)_?id|user_?name|e_?mail|(user_|client_|remote_)?ip(_?address)?|uuid|guid|jwt|access_?token|full_?url|raw_?url|original_?url|query_?string|user_?agent|timestamp)$/i;

/** Labels whose names say that there is no end to their values. */
export function checkLabels({ labels }: Instrument): Defect[] {
  return labels
    .filter(({ name }) => UNBOUNDED.test(name))
    .map(({ name, place }) => {
      const message = `The label ${name} takes any number of values, and each of them is a series for ever`;
      return { rule: 'metrics.unbounded-label', offset: place.start, message };
    });
}

const MEASURES = new Set(['inc', 'dec', 'set', 'observe', 'labels', 'startTimer']);
const REQUEST = /^(req|request|ctx|context)$/i;
const RAW_PATH = /^(url|originalUrl|path|rawPath)$/;

/** `requests.inc({ path: req.path })`: whoever calls decides how many series there are. */
export function checkMeasuring({ callee, arguments: given }: NodeOf<'CallExpression'>): Defect[] {
  const method = calledName(callee);
  if (unwrapped(callee).type !== 'MemberExpression' || !MEASURES.has(method)) return [];
  const isList = method === 'labels';
  const labels = given.slice(0, isList ? undefined : 1).flatMap((argument): Node[] => {
    const node = unwrapped(argument);
    if (node.type !== 'ObjectExpression') return isList ? [node] : [];
    return node.properties.flatMap((property) => (property.type === 'Property' ? [property.value] : []));
  });
  return labels.filter(isRawPath).map(({ start }) => {
    const message = 'A label takes the path of each request as it came, so whoever calls makes new series';
    return { rule: 'metrics.unbounded-label', offset: start, message };
  });
}

function isRawPath(value: Node): boolean {
  const node = unwrapped(value);
  if (node.type !== 'MemberExpression' || !RAW_PATH.test(keyName(node.property, node.computed) ?? ''))
    return false;
  const object = unwrapped(node.object);
  return object.type === 'Identifier' && REQUEST.test(object.name);
}
