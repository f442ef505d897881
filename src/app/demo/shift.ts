/** The shift of the demo. People read and copy its task files when they write their own. */
export const SHIFT = 'night-notes';

const SH = '```sh';
const END = '```';

const MAKE_PAGE = String.raw`# make_page

One note becomes one page: notes/NAME.md -> site/NAME.html.

## Configuration

<!-- Captured values that become columns of the table, for later tasks to use. -->

- outputs: title, words

## Steps

1. See whether the note can be used. One with Windows line ends (CRLF) is converted, and the attempt ends there: the
   next one begins with a clean file.

   ${SH}
   if grep -q "$(printf '\r')" "notes/{note}.md"; then
     tr -d '\r' < "notes/{note}.md" > "notes/{note}.new"
     mv "notes/{note}.new" "notes/{note}.md"
     echo "notes/{note}.md had CRLF line ends; converted" >&2
     exit 1
   fi
   if ! sed 1q "notes/{note}.md" | grep -q '^# .'; then
     echo "notes/{note}.md has no title line (# Title)" >&2
     exit 1
   fi
   ${END}

2. Write the page. The first line is the title, an empty line begins a paragraph, *this* is emphasis.

   ${SH}
   {
     echo '<!doctype html>'
     echo '<html lang="en">'
     echo '<meta charset="utf-8">'
     echo '<meta name="viewport" content="width=device-width">'
     echo '<link rel="stylesheet" href="night.css">'
     sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/\*\([^*]*\)\*/<em>\1<\/em>/g' "notes/{note}.md" |
       awk '
         NR == 1 { sub(/^# /, ""); print "<title>" $0 "</title>"; print "<h1>" $0 "</h1>"; next }
         /^$/ { print "<p>"; next }
         { print }
       '
     echo '<footer><a href="index.html">All notes</a></footer>'
   } > "site/{note}.html"
   ${END}

3. Report the title and the number of words.

   ${SH}
   title=$(sed -n '1s/^# //p' "notes/{note}.md")
   words=$(sed '1s/^# //' "notes/{note}.md" | wc -w | tr -d ' ')
   echo "title=$title" >> "$NIGHTSHIFT_OUTPUT"
   echo "words=$words" >> "$NIGHTSHIFT_OUTPUT"
   ${END}

## Validation

- The page has one heading.

  ${SH}
  test "$(grep -c '^<h1>..*</h1>$' "site/{note}.html")" -eq 1
  ${END}

- The page has as many paragraphs as the note.

  ${SH}
  test "$(grep -c '^<p>$' "site/{note}.html")" -eq "$(grep -c '^$' "notes/{note}.md")"
  ${END}
`;

const ADD_TO_INDEX = String.raw`# add_to_index

The page is listed in site/index.html, with the title and the number of words that make_page found.

## Configuration

## Steps

1. Add a line to the index, unless an earlier try has added it. Several items do this at the same time: a single printf
   with >> is one write, so that none overwrites another. They come in any order; the style puts them in that of the
   table.

   ${SH}
   title=$(printf '%s\n' {title} | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g')
   if ! grep -qF 'href="{note}.html"' site/index.html; then
     printf '<p style="order: %s"><a href="%s.html">%s</a> <small>%s, %s words</small>\n' \
       "$NIGHTSHIFT_ROW" {note} "$title" {about} {words} >> site/index.html
   fi
   ${END}

## Validation

- The index links to the page once.

  ${SH}
  test "$(grep -cF 'href="{note}.html"' site/index.html)" -eq 1
  ${END}

- The page that it links to is there.

  ${SH}
  test -s "site/{note}.html"
  ${END}
`;

export const TASKS = { make_page: MAKE_PAGE, add_to_index: ADD_TO_INDEX };

/** The files that the pages need: the head of the index, to which the second task adds, and the style. */
export const SITE = {
  'index.html': `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="night.css">
<title>Night notes</title>
<h1>Night notes</h1>
`,
  'night.css': `html { background: #10141f; color: #dcdfe6; font: 18px/1.6 Georgia, serif; }
body { max-width: 34em; margin: 3em auto; padding: 0 1em; display: flex; flex-direction: column; }
h1 { color: #ffd479; font-weight: normal; }
p { margin: 0 0 0.6em; }
a { color: #9cc4ff; }
small { color: #8089a0; }
footer { margin-top: 2em; }
`,
};
