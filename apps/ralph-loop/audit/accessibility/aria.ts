/** The attributes of WAI-ARIA 1.3, those of older versions that are still understood included. */
const ATTRIBUTES = new Set(
  (
    'activedescendant atomic autocomplete braillelabel brailleroledescription busy checked colcount colindex ' +
    'colindextext colspan controls current describedby description details disabled dropeffect errormessage expanded ' +
    'flowto grabbed haspopup hidden invalid keyshortcuts label labelledby level live modal multiline multiselectable ' +
    'orientation owns placeholder posinset pressed readonly relevant required roledescription rowcount rowindex ' +
    'rowindextext rowspan selected setsize sort valuemax valuemin valuenow valuetext'
  ).split(' '),
);

/** The roles of WAI-ARIA 1.3, of its graphics module and of digital publishing (`doc-…`). */
const ROLES = new Set(
  (
    'alert alertdialog application article associationlist associationlistitemkey associationlistitemvalue banner ' +
    'blockquote button caption cell checkbox code columnheader combobox command comment complementary composite ' +
    'contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group ' +
    'heading image img input insertion landmark link list listbox listitem log main mark marquee math menu menubar ' +
    'menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar ' +
    'radio radiogroup range region roletype row rowgroup rowheader scrollbar search searchbox section sectionfooter ' +
    'sectionhead sectionheader select separator slider spinbutton status strong structure subscript suggestion ' +
    'superscript switch tab table tablist tabpanel term text textbox time timer toolbar tooltip tree treegrid ' +
    'treeitem widget window graphics-document graphics-object graphics-symbol'
  ).split(' '),
);

export const isAriaAttribute = (name: string): boolean => ATTRIBUTES.has(name.slice('aria-'.length));

export const isRole = (role: string): boolean => ROLES.has(role) || role.startsWith('doc-');

/** Roles of what can be operated. */
export const CONTROL_ROLES = new Set(
  'button checkbox combobox link menuitem menuitemcheckbox menuitemradio option radio searchbox slider spinbutton switch tab textbox treeitem'.split(
    ' ',
  ),
);
