import { globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** What a class is handed at most. */
const MOST = 6;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = ['runtime', 'actors', 'gateway', 'policies', 'transports'].map((room) => `${room}/**/*.ts`);

/** Whatever is called so is handed to somebody. */
const BAG = /(Deps|Parts|Services|Needs|Components)$/;
/** What users choose: public. */
const CHOSEN = /Options$/;

/** Those that are still handed more, and how much: they may only become fewer and smaller. */
const STILL_MORE: Readonly<Record<string, number>> = {
  // One object: the agent in its process.
  HandlingAgent: 8,
  // A record, made for every envelope.
  'new Mail': 13,
  // A message: what a place is started with, as data.
  NodeBoot: 14,
  // One object: the thread, of which sending names this much, most of it by way of `CellThread`.
  SendingThread: 33,
  // What an embedder may give: public. Four are needed, five have a default.
  SystemDeps: 9,
};

type Shape = ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

/** The interfaces and type aliases of all sources, and how many members each has, with what it inherits. */
class Shapes {
  readonly sources: readonly ts.SourceFile[];
  readonly #declared = new Map<string, Shape>();
  readonly #imported = new Map<string, string>();

  constructor(files: readonly string[]) {
    this.sources = files.map((file) =>
      ts.createSourceFile(file, readFileSync(`${ROOT}${file}`, 'utf8'), ts.ScriptTarget.Latest, true),
    );
    for (const { fileName, statements } of this.sources) {
      for (const statement of statements) {
        if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
          this.#declared.set(`${fileName} ${statement.name.text}`, statement);
        if (ts.isImportDeclaration(statement)) this.#note(fileName, statement);
      }
    }
  }

  #note(file: string, { importClause, moduleSpecifier }: ts.ImportDeclaration): void {
    const { text } = moduleSpecifier as ts.StringLiteral;
    const bindings = importClause?.namedBindings;
    if (!text.startsWith('.') || bindings === undefined || !ts.isNamedImports(bindings)) return;
    for (const { name, propertyName = name } of bindings.elements)
      this.#imported.set(`${file} ${name.text}`, `${normalize(join(file, '..', text))} ${propertyName.text}`);
  }

  /** What `name` stands for in a file. */
  find(file: string, name: string): Shape | undefined {
    const own = `${file} ${name}`;
    return this.#declared.get(own) ?? this.#declared.get(this.#imported.get(own) ?? '');
  }

  /** The names of what has to be given for it; none for what is not made of members. */
  membersOf(node: ts.Node | undefined): Set<string> {
    if (node === undefined) return new Set();
    if (ts.isTypeAliasDeclaration(node)) return this.membersOf(node.type);
    if (ts.isIntersectionTypeNode(node)) return this.#all(node.types);
    if (ts.isTypeLiteralNode(node) || ts.isInterfaceDeclaration(node)) {
      const own = node.members.map((member) => (member.name ?? member).getText());
      const inherited = ts.isInterfaceDeclaration(node)
        ? (node.heritageClauses ?? []).flatMap(({ types }) => types)
        : [];
      return new Set([...own, ...this.#all(inherited)]);
    }
    if (ts.isTypeReferenceNode(node)) return this.#referred(node, node.typeName.getText());
    if (ts.isExpressionWithTypeArguments(node)) return this.#referred(node, node.expression.getText());
    return new Set();
  }

  #all(nodes: readonly ts.Node[]): Set<string> {
    return new Set(nodes.flatMap((node) => [...this.membersOf(node)]));
  }

  #referred(node: ts.NodeWithTypeArguments, name: string): Set<string> {
    const [of, keys] = node.typeArguments ?? [];
    const named = keys === undefined ? [] : ts.isUnionTypeNode(keys) ? keys.types : [keys];
    const keyNames = new Set(named.map((key) => key.getText().slice(1, -1)));
    if (name === 'Pick') return keyNames;
    if (name === 'Omit') return new Set([...this.membersOf(of)].filter((member) => !keyNames.has(member)));
    if (['Readonly', 'Partial', 'Required'].includes(name)) return this.membersOf(of);
    return this.membersOf(this.find(node.getSourceFile().fileName, name));
  }
}

/**
 * How much everybody is handed who is handed more than that: by the name of the bag, or of the class where that has none.
 *
 * A bag is what is called one; and whatever a constructor takes that is declared beside its class, and not chosen by a user.
 */
function handedMore(shapes: Shapes): Record<string, number> {
  const found: Record<string, number> = {};
  const note = (name: string, count: number): void => {
    if (count > MOST) found[name] = Math.max(count, found[name] ?? 0);
  };
  const noteConstructor = ({ parent, parameters }: ts.ConstructorDeclaration): void => {
    const name = `new ${(parent as ts.ClassLikeDeclaration).name?.text}`;
    note(name, parameters.length);
    for (const { type } of parameters) {
      if (type === undefined) continue;
      const file = type.getSourceFile();
      const shape = ts.isTypeReferenceNode(type)
        ? shapes.find(file.fileName, type.typeName.getText())
        : undefined;
      if (shape === undefined) note(name, shapes.membersOf(type).size);
      else if (shape.getSourceFile() === file && !CHOSEN.test(shape.name.text))
        note(shape.name.text, shapes.membersOf(shape).size);
    }
  };
  const look = (node: ts.Node): void => {
    if ((ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && BAG.test(node.name.text))
      note(node.name.text, shapes.membersOf(node).size);
    if (ts.isConstructorDeclaration(node)) noteConstructor(node);
    ts.forEachChild(node, look);
  };
  for (const source of shapes.sources) look(source);
  return found;
}

describe('What a class is handed', () => {
  it(`is at most ${MOST} things, but where it is known to be more`, () => {
    const shapes = new Shapes(globSync(['*.ts', ...SOURCES], { cwd: ROOT }));
    // The list is of what there is: who is cut down to size leaves it.
    expect(handedMore(shapes)).toEqual(STILL_MORE);
  });
});
