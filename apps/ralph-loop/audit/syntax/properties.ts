import { keyName, type Node, type NodeOf } from './node.ts';

type ObjectNode = NodeOf<'ObjectExpression'>;

/** The value of a property that is written out; the last one of that name counts. */
export function propertyOf({ properties }: ObjectNode, name: string): Node | undefined {
  const property = properties.findLast(
    (one) => one.type === 'Property' && keyName(one.key, one.computed) === name,
  );
  return property?.type === 'Property' ? property.value : undefined;
}

/** Whether an object may have properties that are not written out. */
export const isOpen = ({ properties }: ObjectNode): boolean =>
  properties.some((property) => property.type === 'SpreadElement' || property.computed);
