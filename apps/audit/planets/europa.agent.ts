import { PLANETS } from 'orrery/planets';
import { stylesCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { stylelint } from '../tools/stylelint.tool.ts';

export const europa = planet(PLANETS.europa, stylesCheck, [stylelint]);
