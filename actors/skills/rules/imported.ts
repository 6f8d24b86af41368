import { pythonImports } from './python-imports.ts';
import { scriptImports } from './script-imports.ts';

/** What a text imports: its name as it is written there, and the line, from 1. */
export interface Imported {
  readonly name: string;
  readonly line: number;
}

const SCRIPT = /\.[cm]?[jt]sx?$/i;
const PYTHON = /\.pyi?$/i;

/** How what a file imports is read, by its name: of JavaScript, TypeScript and Python. Undefined for what is not read. */
export function importReaderOf(path: string): ((text: string) => readonly Imported[]) | undefined {
  if (SCRIPT.test(path)) return scriptImports;
  return PYTHON.test(path) ? pythonImports : undefined;
}
