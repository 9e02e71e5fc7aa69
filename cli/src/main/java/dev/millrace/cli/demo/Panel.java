package dev.millrace.cli.demo;

import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;

/** A framed box of lines with a title in its upper edge. */
record Panel(String title, List<AttributedString> lines) {

    /** Exactly {@code height} lines of {@code width} cells: what does not fit is cut, what is missing blank. */
    List<AttributedString> draw(int width, int height) {
        List<AttributedString> result = new ArrayList<>(height);
        String name = cut(title, width - 6);
        AttributedStringBuilder top = new AttributedStringBuilder();
        top.append("╭─ ", Colours.FAINT).append(name, Colours.TITLE);
        top.append(" " + "─".repeat(Math.max(0, width - name.length() - 5)) + "╮", Colours.FAINT);
        result.add(top.toAttributedString());
        for (int row = 0; row < height - 2; row++) {
            AttributedString line = row < lines.size() ? lines.get(row) : AttributedString.EMPTY;
            AttributedStringBuilder framed = new AttributedStringBuilder();
            framed.append("│ ", Colours.FAINT);
            framed.append(fit(line, width - 4));
            framed.append(" │", Colours.FAINT);
            result.add(framed.toAttributedString());
        }
        result.add(new AttributedString("╰" + "─".repeat(width - 2) + "╯", Colours.FAINT));
        return result;
    }

    private static String cut(String text, int cells) {
        return text.length() <= cells ? text : text.substring(0, Math.max(0, cells - 1)) + "…";
    }

    /** The line cut or filled up to so many cells. */
    static AttributedString fit(AttributedString line, int cells) {
        int width = line.columnLength();
        if (width > cells) {
            return line.columnSubSequence(0, cells);
        }
        AttributedStringBuilder filled = new AttributedStringBuilder();
        return filled.append(line).append(" ".repeat(cells - width)).toAttributedString();
    }

    /** Two columns of lines next to each other, with a blank between. */
    static List<AttributedString> beside(List<AttributedString> left, List<AttributedString> right) {
        List<AttributedString> result = new ArrayList<>();
        for (int row = 0; row < left.size(); row++) {
            AttributedStringBuilder line = new AttributedStringBuilder();
            result.add(line.append(left.get(row))
                    .append(" ")
                    .append(right.get(row))
                    .toAttributedString());
        }
        return result;
    }
}
