/**
 * Makes the API reference from the docstrings, one module for each entry of the package: node .ci/api-reference.ts FOLDER
 *
 * Without a folder it writes nothing, and finds out whether everything can be read. A warning fails it: a link that leads
 * nowhere, or a type in a signature that has no page of its own. `typedoc.json` lists those that are to have none.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Application, TSConfigReader, TypeDocReader } from 'typedoc';
import type { Manifest } from './published-manifest.ts';

const [folder] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const entries = new Map(
  Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [[resolve(target['orrery-source']), path.replace('.', String(manifest['name']))] as const],
  ),
);

const reference = await Application.bootstrap({ entryPoints: [...entries.keys()] }, [
  new TypeDocReader(),
  new TSConfigReader(),
]);
const found = reference.getEntryPoints() ?? [];
const named = found.map((entry) => ({
  ...entry,
  displayName: entries.get(resolve(entry.sourceFile.fileName)) ?? entry.displayName,
}));
const project = reference.converter.convert(named);
reference.validate(project);
if (folder !== undefined) await reference.generateDocs(project, folder);
console.log(`${found.length} modules read`);
if (found.length !== entries.size || reference.logger.hasErrors() || reference.logger.hasWarnings())
  process.exitCode = 1;
