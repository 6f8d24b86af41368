import { DockerfileParser, From, type Instruction, ModifiableInstruction } from 'dockerfile-ast';
import type { Defect } from '../evidence.ts';
import type { FileDefects } from '../file-scan.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isMovingImage } from './moving-image.ts';

const DOCKERFILE =
  /(^|\/)(?:(?:Dockerfile|Containerfile)(?:\.(?!dockerignore$)[\w-]+)?|[\w.-]+\.dockerfile)$/i;

export const isDockerfile = (file: string): boolean => DOCKERFILE.test(file);

/** From one FROM to the next. */
interface Stage {
  readonly from: From;
  readonly instructions: readonly Instruction[];
  /** The stage it is built on, if that is not an image from elsewhere. */
  readonly base: Stage | undefined;
}

/** What is wrong with how an image is built. */
export function checkDockerfile(source: SourceText): FileDefects {
  // A template says something else each time it is filled in.
  if (source.text.includes('{{') || source.text.includes('{%')) return { defects: [] };
  const instructions = DockerfileParser.parse(source.text).getInstructions();
  const stages = stagesOf(instructions);
  const offsetOf = (instruction: Instruction): number => {
    const { line, character } = instruction.getRange().start;
    return (source.startOf(line + 1) ?? 0) + character;
  };
  const found = [
    ...stages.filter(isOnMovingImage).map(({ from }) => ['release.moving-image', from] as const),
    ...instructions.filter(addsFromUrl).map((add) => ['release.add-from-url', add] as const),
    ...checkResult(stages.at(-1), source),
  ];
  return { defects: found.map(([rule, at]): Defect => ({ rule, offset: offsetOf(at) })) };
}

function stagesOf(instructions: readonly Instruction[]): Stage[] {
  const stages: (Stage & { readonly instructions: Instruction[] })[] = [];
  for (const instruction of instructions) {
    if (instruction instanceof From) {
      const image = instruction.getImage()?.toLowerCase();
      const base = stages.findLast(({ from }, index) => nameOf(from) === image || String(index) === image);
      stages.push({ from: instruction, instructions: [], base });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

const nameOf = (from: From): string | undefined => from.getBuildStage()?.toLowerCase();

function isOnMovingImage({ from, base }: Stage): boolean {
  const image = from.getImage();
  return base === undefined && image !== null && image !== 'scratch' && isMovingImage(image);
}

/** All that is said to an instruction, with its flags. */
function wordsOf(instruction: Instruction): string {
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags().join(' ') : '';
  return `${flags} ${instruction.getRawArgumentsContent() ?? ''}`;
}

/** `--checksum` makes a file the one that was meant; git repositories have commits. */
function addsFromUrl(instruction: Instruction): boolean {
  if (instruction.getKeyword() !== 'ADD') return false;
  const words = wordsOf(instruction);
  return /(?:^|[\s"[])https?:\/\/(?!\S+\.git\b)/.test(words) && !words.includes('--checksum');
}

/** What the last stage, and those it is built on, come to. */
function checkResult(last: Stage | undefined, { text }: SourceText): (readonly [string, Instruction])[] {
  if (last === undefined) return [];
  const stages: Stage[] = [];
  for (let stage: Stage | undefined = last; stage !== undefined; stage = stage.base) stages.push(stage);
  const own = stages.flatMap(({ instructions }) => instructions);
  const kept = own.filter(keepsLists).map((run) => ['release.kept-package-lists', run] as const);
  const start = last.instructions.findLast(startsSomething) ?? own.find(startsSomething);
  const isRoot = runsAsRoot(stages) && !DROPS_RIGHTS.test(text);
  return start !== undefined && isRoot ? [...kept, ['release.runs-as-root', start]] : kept;
}

const startsSomething = (instruction: Instruction): boolean =>
  ['CMD', 'ENTRYPOINT'].includes(instruction.getKeyword());

/** Entry points that begin as root and go on as somebody else. */
const DROPS_RIGHTS = /\b(?:gosu|su-exec|setpriv|runuser|s6-setuidgid|chpst)\b/;

/** Official images whose user is root unless somebody changes it; others may do as they like. */
const ROOT_IMAGES =
  /^(?:docker\.io\/|library\/)*(?:node|python|debian|ubuntu|alpine|golang|ruby|php|perl|openjdk|eclipse-temurin|amazoncorretto|rust|centos|fedora|rockylinux|almalinux|busybox|nginx|httpd|elixir|erlang|swift|maven|buildpack-deps|oven\/bun|denoland\/deno)$/;

function runsAsRoot(stages: readonly Stage[]): boolean {
  const user = stages
    .map(({ instructions }) => instructions.findLast((one) => one.getKeyword() === 'USER'))
    .find((found) => found !== undefined);
  if (user !== undefined) return /^(?:root|0)(?::|$)/.test(user.getRawArgumentsContent() ?? '');
  const image = stages.at(-1)?.from;
  const isUnprivileged = /nonroot|unprivileged|rootless/.test(image?.getImageTag() ?? '');
  const name = [image?.getRegistry(), image?.getImageName()].filter(Boolean).join('/');
  return !isUnprivileged && ROOT_IMAGES.test(name);
}

const INSTALLS = /\bapt(?:-get)?\s+(?:-\S+\s+)*install\b/;
const CLEANS = /\/var\/lib\/apt(?:\/lists)?|--mount=type=(?:cache|tmpfs)|\bdistclean\b/;

function keepsLists(instruction: Instruction): boolean {
  const words = instruction.getKeyword() === 'RUN' ? wordsOf(instruction) : '';
  return INSTALLS.test(words) && !CLEANS.test(words);
}
