import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A small repository with something for most auditors; what they find in it is not the same for any two of them. */
const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'shop',
    version: '1.0.0',
    type: 'module',
    scripts: { start: 'node src/main.js' },
    dependencies: { express: '^5.0.0' },
  }),
  'README.md': '# Shop\n\nSee [the guide](docs/guide.md) and run `npm run serve`.\n',
  'src/main.ts':
    "import { fetchAll } from 'undici-shop';\n\nexport const run = (code: string): unknown => eval(code);\nexport const all = fetchAll;\n",
  'src/orders.ts':
    'export async function orders(ids: string[], load: (id: string) => Promise<unknown>) {\n  const all = [];\n  // TODO: load them together\n  for (const id of ids) all.push(await load(id));\n  try {\n    return JSON.parse(String(all));\n  } catch {}\n  return undefined;\n}\n',
  'test/orders.test.ts':
    "import { it } from 'vitest';\n\nit.skip('loads them', () => {});\nit('adds up', () => {\n  const sum = 1 + 1;\n  void sum;\n});\n",
};

/** Writes it to `root`, and returns that. */
export function auditedRepository(root: string): string {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
