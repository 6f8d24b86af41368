import { knownStart } from '../syntax/known-start.ts';
import type { Node, NodeOf } from '../syntax/node.ts';
import { isOpen, propertyOf } from '../syntax/properties.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';

export type Kind = 'Counter' | 'Gauge' | 'Histogram' | 'Summary';

/**
 * A metric of prom-client where it is made.
 *
 * - `name`    undefined unless all of it is known.
 * - `place`   where the name stands, else where the metric is made.
 * - `labels`  those that are written out, with their places.
 * - `isOpen`  there may be more options than are seen.
 */
export interface Instrument {
  readonly kind: Kind;
  readonly name: string | undefined;
  readonly place: Node;
  readonly help: Node | undefined;
  readonly labels: readonly { readonly name: string; readonly place: Node }[];
  readonly options: NodeOf<'ObjectExpression'>;
  readonly isOpen: boolean;
}

const MADE_BY = /^prom-client:(Counter|Gauge|Histogram|Summary)$/;

/** The metric that `new Counter({ … })` makes. */
export function instrumentOf(made: NodeOf<'NewExpression'>, scope: Scope): Instrument | undefined {
  const kind = MADE_BY.exec(referenceOf(made.callee, scope) ?? '')?.[1];
  const [given] = made.arguments;
  if (kind === undefined || given === undefined) return undefined;
  const options = heldValue(given, scope);
  if (options.type !== 'ObjectExpression') return undefined;
  const name = propertyOf(options, 'name');
  const start = name && knownStart(name, scope);
  return {
    kind: kind as Kind,
    name: start?.isWhole ? start.text : undefined,
    place: name ?? made,
    help: propertyOf(options, 'help'),
    labels: labelsOf(propertyOf(options, 'labelNames'), scope),
    options,
    isOpen: isOpen(options),
  };
}

function labelsOf(names: Node | undefined, scope: Scope): Instrument['labels'] {
  const list = names && heldValue(names, scope);
  if (list?.type !== 'ArrayExpression') return [];
  return list.elements.flatMap((element) => {
    const start = element && knownStart(element, scope);
    return element && start?.isWhole ? [{ name: start.text, place: element }] : [];
  });
}
