package dev.millrace.cli.demo;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;

/** SQL with its upper-case words and its texts coloured: enough for statements that we wrote. */
final class ColouredSql {
    private static final Pattern PART = Pattern.compile("('[^']*')|\\b([A-Z]{2,})\\b");

    private ColouredSql() {}

    static AttributedString coloured(String line) {
        AttributedStringBuilder result = new AttributedStringBuilder();
        Matcher part = PART.matcher(line);
        int end = 0;
        while (part.find()) {
            result.append(line, end, part.start());
            result.append(part.group(), part.group(1) != null ? Colours.GOOD : Colours.KEYWORD);
            end = part.end();
        }
        return result.append(line.substring(end)).toAttributedString();
    }
}
