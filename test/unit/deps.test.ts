import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** What a class is handed at most. */
const MOST = 6;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = ['runtime', 'actors', 'gateway', 'policies', 'transports'].map((room) => `${room}/**/*.ts`);

/** Those that are still handed more, and how much: they may only become fewer and smaller. */
const STILL_MORE: Readonly<Record<string, number>> = {
  // What an embedder may give: public.
  SystemDeps: 9,
  // A record, made for every envelope.
  'new Mail': 13,
};

/** How much everybody is handed who is handed more than that, by the name of who is. */
function handedMore(): Record<string, number> {
  const found: Record<string, number> = {};
  const note = (name: string, count: number): void => {
    if (count > MOST) found[name] = count;
  };
  for (const file of globSync(['*.ts', ...SOURCES], { cwd: ROOT })) {
    const source = ts.createSourceFile(
      file,
      readFileSync(`${ROOT}${file}`, 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    const look = (node: ts.Node): void => {
      if (ts.isInterfaceDeclaration(node) && node.name.text.endsWith('Deps'))
        note(node.name.text, node.members.length);
      if (ts.isTypeAliasDeclaration(node) && node.name.text.endsWith('Deps'))
        note(node.name.text, ts.isTypeLiteralNode(node.type) ? node.type.members.length : 0);
      if (ts.isConstructorDeclaration(node)) {
        const name = `new ${(node.parent as ts.ClassLikeDeclaration).name?.text}`;
        note(name, node.parameters.length);
        for (const { type } of node.parameters)
          if (type !== undefined && ts.isTypeLiteralNode(type)) note(name, type.members.length);
      }
      ts.forEachChild(node, look);
    };
    look(source);
  }
  return found;
}

describe('What a class is handed', () => {
  it(`is at most ${MOST} things, but where it is known to be more`, () => {
    const found = handedMore();
    // The list is of what there is: who is cut down to size leaves it.
    expect(found).toEqual(STILL_MORE);
  });
});
