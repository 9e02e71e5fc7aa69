package dev.millrace.server.secret;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks up what {@code ${env:NAME}}, {@code ${file:/path}} and {@code ${secret:name}} stand for. What is found is not looked at again. Safe on
 * any thread.
 *
 * @param environment the value of a variable
 * @param secrets the text of a secret
 */
public record SecretReferences(
        Function<String, Optional<String>> environment, Function<String, Optional<String>> secrets)
        implements Options.References {
    private static final int MOST_FILE_BYTES = 64 << 10;
    private static final Pattern REFERENCE = Pattern.compile("\\$\\{(env|file|secret):([^{}]+)}");
    private static final String BEGIN = "${";

    /** Where to look. */
    public enum Kind {
        ENV,
        FILE,
        SECRET
    }

    /** One reference in a text. */
    public record Reference(Kind kind, String name) {
        @Override
        public String toString() {
            return BEGIN + kind.name().toLowerCase(Locale.ROOT) + ":" + name + "}";
        }
    }

    /** The references in a text, in their order. */
    public static List<Reference> in(String text) {
        List<Reference> found = new ArrayList<>();
        Matcher matcher = REFERENCE.matcher(text);
        while (matcher.find()) {
            found.add(reference(matcher));
        }
        return found;
    }

    private static Reference reference(Matcher matcher) {
        return new Reference(Kind.valueOf(matcher.group(1).toUpperCase(Locale.ROOT)), matcher.group(2));
    }

    @Override
    public String resolve(String text) {
        StringBuilder resolved = new StringBuilder();
        Matcher matcher = REFERENCE.matcher(text);
        int done = 0;
        while (matcher.find()) {
            resolved.append(plain(text, done, matcher.start())).append(lookUp(reference(matcher)));
            done = matcher.end();
        }
        return resolved.append(plain(text, done, text.length())).toString();
    }

    private static String plain(String text, int from, int to) {
        String plain = text.substring(from, to);
        if (plain.contains(BEGIN)) { // the rest is not shown: it may be what was to be hidden
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "an option has \"${\" where no reference begins: there are ${env:NAME}, ${file:/path} and"
                            + " ${secret:name}");
        }
        return plain;
    }

    private String lookUp(Reference reference) {
        return switch (reference.kind()) {
            case ENV ->
                environment
                        .apply(reference.name())
                        .orElseThrow(() -> missing(reference, "the server's environment has no such variable"));
            case SECRET ->
                secrets.apply(reference.name())
                        .orElseThrow(() -> missing(reference, "there is no secret of this name")
                                .withHint("CREATE SECRET " + reference.name() + " AS '..'"));
            case FILE -> contents(reference);
        };
    }

    /** The file's text without its last line feed. */
    private static String contents(Reference reference) {
        try (InputStream in = Files.newInputStream(Path.of(reference.name()))) {
            byte[] bytes = in.readNBytes(MOST_FILE_BYTES + 1);
            if (bytes.length > MOST_FILE_BYTES) {
                throw missing(reference, "the file has more than " + MOST_FILE_BYTES + " bytes");
            }
            String text = new String(bytes, StandardCharsets.UTF_8);
            return text.endsWith("\r\n")
                    ? text.substring(0, text.length() - 2)
                    : text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        } catch (IOException | InvalidPathException e) {
            throw missing(reference, "the file cannot be read (" + e.getClass().getSimpleName() + ")");
        }
    }

    private static MillraceException missing(Reference reference, String why) {
        return MillraceException.user(SqlState.UNDEFINED_OBJECT, "nothing is found for " + reference + ": " + why);
    }
}
