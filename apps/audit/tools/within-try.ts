import { type Node, parseSync, Visitor } from 'oxc-parser';

/** Whether what stands at an offset is in the block of a try of its own function: whoever wrote it means to catch its faults. */
export function isWithinTry(file: string, text: string, offset: number): boolean {
  let isWithin = false;
  const covers = ({ start, end }: Pick<Node, 'start' | 'end'>): boolean => start <= offset && offset < end;
  const enter = (called: Node): void => {
    if (covers(called)) isWithin = false;
  };
  new Visitor({
    TryStatement: ({ block, handler }) => {
      if (handler !== null && covers(block)) isWithin = true;
    },
    FunctionDeclaration: enter,
    FunctionExpression: enter,
    ArrowFunctionExpression: enter,
  }).visit(parseSync(file, text).program);
  return isWithin;
}
