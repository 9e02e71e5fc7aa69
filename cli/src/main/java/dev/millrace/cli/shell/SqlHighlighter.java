package dev.millrace.cli.shell;

import dev.millrace.sql.text.Keywords;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jline.reader.Highlighter;
import org.jline.reader.LineReader;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Colours what is typed: words of the language, texts, numbers, comments. */
final class SqlHighlighter implements Highlighter {
    private static final Pattern TOKEN = Pattern.compile(
            "(?s)(?<comment>--[^\\n]*)|(?<text>'(?:[^']|'')*'?)|(?<number>\\b\\d+(?:\\.\\d+)?\\b)|(?<word>[A-Za-z_]+)");
    private static final Set<String> KEYWORDS = Keywords.all();

    @Override
    public AttributedString highlight(LineReader reader, String buffer) {
        AttributedStringBuilder result = new AttributedStringBuilder();
        Matcher token = TOKEN.matcher(buffer);
        int end = 0;
        while (token.find()) {
            result.append(buffer, end, token.start());
            result.append(token.group(), style(token));
            end = token.end();
        }
        return result.append(buffer.substring(end)).toAttributedString();
    }

    private static AttributedStyle style(Matcher token) {
        if (token.group("comment") != null) {
            return AttributedStyle.DEFAULT.foreground(AttributedStyle.BRIGHT | AttributedStyle.BLACK);
        } else if (token.group("text") != null) {
            return AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN);
        } else if (token.group("number") != null) {
            return AttributedStyle.DEFAULT.foreground(AttributedStyle.CYAN);
        }
        boolean keyword = KEYWORDS.contains(token.group().toLowerCase(Locale.ROOT));
        return keyword ? AttributedStyle.BOLD.foreground(AttributedStyle.BLUE) : AttributedStyle.DEFAULT;
    }
}
