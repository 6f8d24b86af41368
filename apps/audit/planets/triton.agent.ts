import { PLANETS } from 'orrery/planets';
import { releaseCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { actions } from '../tools/actions.tool.ts';
import { dockerfileUtils } from '../tools/dockerfile-utils.tool.ts';
import { publint } from '../tools/publint.tool.ts';

export const triton = planet(PLANETS.triton, releaseCheck, [actions, dockerfileUtils, publint]);
