import { type Node, parseSync, Visitor } from 'oxc-parser';

/** Whether an offset is in the block of a try with a catch, in the same function: its author means to catch faults there. */
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
