# Draws the text of a terminal as SVG: awk -v title='An answer and its changes, in psql' -f docs/terminal.awk docs/psql.txt > docs/psql.svg
#
# Each piece of text says how wide it is (textLength), so that columns stand under each other in any font. Plain ASCII only.
# Lines that begin with psql's prompt were typed; rows of a subscription are coloured by their op.

function escaped(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/>/, "\\&gt;", text)
  return text
}

function piece(text, fill) {
  if (text !~ /^ *$/) {
    drawn = drawn sprintf("<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\" fill=\"%s\" xml:space=\"preserve\">%s</text>\n",
      12 + CELL * column, 26 + LINE * row, CELL * length(text), fill, escaped(text))
  }
  column += length(text)
}

function typed(text) {
  while (match(text, /[A-Z][A-Z]+/)) {
    word = substr(text, RSTART, RLENGTH)
    rest = substr(text, RSTART + RLENGTH)
    piece(substr(text, 1, RSTART - 1), PLAIN)
    piece(word, KEYWORD)
    text = rest
  }
  piece(text, PLAIN)
}

BEGIN {
  CELL = 8.4
  LINE = 17
  PLAIN = "#cdd6f4"
  FAINT = "#7f849c"
  KEYWORD = "#89b4fa"
  CAME = "#a6e3a1"
  WENT = "#f38ba8"
}

{
  sub(/ +$/, "")
  column = 0
  if (match($0, /^millrace[=-][>#] ?/)) {
    text = substr($0, RLENGTH + 1)
    piece(substr($0, 1, RLENGTH), FAINT)
    typed(text)
  } else if ($0 ~ /^ \+ /) {
    piece($0, CAME)
  } else if ($0 ~ /^ - /) {
    piece($0, WENT)
  } else {
    piece($0, $0 ~ /^[-+]+$|^\(|^[A-Z]+( [A-Z0-9]+)*$/ ? FAINT : PLAIN)
  }
  if (column > widest) {
    widest = column
  }
  row++
}

END {
  width = 24 + CELL * widest
  height = 26 + LINE * row
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" width=\"%.0f\" height=\"%d\"", width, height, width, height
  print " font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace\" font-size=\"14\">"
  print "<title>" escaped(title) "</title>"
  print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e2e\"/>"
  printf "%s</svg>\n", drawn
}
