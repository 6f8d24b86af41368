// Stands in for a coding agent: it reads its prompt, and writes the file of the task that stands there.
import { readFileSync, writeFileSync } from 'node:fs';

const task = /^Task ([\w-]+):/m.exec(readFileSync(0, 'utf8'))?.[1];
if (task === undefined) throw new Error('the prompt names no task');
writeFileSync(`${task}.txt`, `${task} is written\n`);
