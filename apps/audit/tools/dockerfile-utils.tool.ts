import type { Severity } from '@orrery/ralph-loop';
import type { Tool } from '../tool.ts';
import { isSample } from './aside.ts';
import { hitOf, scanFiles } from './scan-files.ts';

const rule = (severity: Severity, what: string) => ({ severity, what });

/** Rules by the validator's names, without those about style or about instructions that it does not know yet. */
const RULES: Tool['rules'] = Object.fromEntries(
  Object.entries({
    ARGUMENT_EXTRA: rule('medium', 'The instruction has too many arguments'),
    ARGUMENT_MISSING: rule('medium', 'The instruction lacks its arguments'),
    ARGUMENT_REQUIRES_AT_LEAST_ONE: rule('medium', 'The instruction lacks an argument'),
    ARGUMENT_REQUIRES_AT_LEAST_TWO: rule('medium', 'The instruction lacks an argument'),
    ARGUMENT_REQUIRES_ONE: rule('medium', 'The instruction takes one argument'),
    ARGUMENT_REQUIRES_ONE_OR_THREE: rule('medium', 'FROM takes one argument, or three with AS'),
    ARGUMENT_REQUIRES_TWO: rule('medium', 'The instruction takes two arguments'),
    BASE_NAME_EMPTY: rule('medium', 'The base image is named by a variable that is empty'),
    DUPLICATE_BUILD_STAGE_NAME: rule('medium', 'Two stages have the same name; only the last is found'),
    FLAG_DUPLICATE: rule('medium', 'A flag is given twice'),
    FLAG_INVALID_DURATION: rule('medium', 'The duration of a flag is not valid'),
    HEALTHCHECK_CMD_ARGUMENT_MISSING: rule('medium', 'The health check has no command'),
    INVALID_AS: rule('medium', 'FROM takes AS before the name of a stage'),
    INVALID_BUILD_STAGE_NAME: rule('medium', 'The name of the stage is not valid'),
    INVALID_PORT: rule('medium', 'The port is not valid'),
    INVALID_PROTO: rule('medium', 'The protocol of the port is not valid'),
    INVALID_REFERENCE_FORMAT: rule('medium', 'The name of the image is not valid'),
    INVALID_SIGNAL: rule('medium', 'There is no such signal'),
    JSON_IN_SINGLE_QUOTES: rule(
      'medium',
      'The list is in single quotes; it is no JSON, and run by a shell as it stands',
    ),
    MULTIPLE_INSTRUCTIONS: rule('low', 'The instruction is given twice in one stage; only the last counts'),
    NO_SOURCE_IMAGE: rule('medium', 'No image is named to begin with'),
    ONBUILD_CHAINING_DISALLOWED: rule('medium', 'ONBUILD cannot be given to ONBUILD'),
    ONBUILD_TRIGGER_DISALLOWED: rule('medium', 'ONBUILD cannot be given this instruction'),
    SHELL_JSON_FORM: rule('medium', 'SHELL takes a list in JSON'),
    SYNTAX_MISSING_DOUBLE_QUOTE: rule('medium', 'A quote is not closed'),
    SYNTAX_MISSING_EQUALS: rule('medium', 'A name lacks its ='),
    SYNTAX_MISSING_NAMES: rule('medium', 'A value lacks its name'),
    SYNTAX_MISSING_SINGLE_QUOTE: rule('medium', 'A quote is not closed'),
    UNKNOWN_INSTRUCTION: rule('medium', 'Docker knows no such instruction'),
  }).map(([name, value]) => [`dockerfile-utils/${name.toLowerCase().replaceAll('_', '-')}`, value]),
);

/** Finds Dockerfiles that do not build, or not what was meant. */
export const dockerfileUtils: Tool = {
  name: 'dockerfile-utils',
  module: import.meta.url,
  packages: ['dockerfile-utils'],
  licence: 'MIT',
  home: 'https://github.com/rcjsuen/dockerfile-utils',
  replaces: 'the rules release.* on Dockerfiles',
  rules: RULES,
  nothing: 'no Dockerfiles',
  takes: (file) => DOCKERFILE.test(file) && !isSample(file),
  run: async (job, progress) => {
    const { validate, ValidationCode } = await import('dockerfile-utils');
    return scanFiles(job, progress, (source) => {
      // A template is no Dockerfile yet.
      if (/\{\{|\{%|<%/.test(source.text)) return [];
      return validate(source.text).flatMap(({ code, message, range: { start } }) => {
        const name = ValidationCode[Number(code)]?.toLowerCase().replaceAll('_', '-');
        const id = `dockerfile-utils/${name}`;
        const place = { line: start.line + 1, column: start.character + 1 };
        return hitOf(RULES, id, source, {
          ...place,
          message: `${RULES[id]?.what}: ${plain(message).replace(/\.?$/, '.')}`,
        });
      });
    });
  },
};

const plain = (message: string | { readonly value: string }): string =>
  typeof message === 'string' ? message : message.value;

const DOCKERFILE =
  /(^|\/)(?:(?:Dockerfile|Containerfile)(?:\.(?!dockerignore$|md$|tpl$|tmpl$|j2$|erb$)[\w-]+)?|[\w.-]+\.dockerfile)$/i;
