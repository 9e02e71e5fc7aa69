package dev.millrace.connector;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The options of a WITH clause, each read once under a type. {@link #rejectUnread()} then names the first that nobody
 * asked for, so that a misspelt option is an error. Not thread-safe; used while a statement is executed.
 */
public final class Options {
    private final Map<String, String> values;
    private final References references;
    private final Set<String> read;

    /** What stands for a value that must not be seen, as {@code ${env:PASSWORD}}. Safe on any thread. */
    @FunctionalInterface
    public interface References {
        /**
         * The text with what its references stand for, as of now. For whoever is to have the secret, and for nobody else: not for
         * messages, logs or statistics.
         *
         * @throws MillraceException naming the reference for which there is nothing
         */
        String resolve(String text);
    }

    /** Refuses secrets that are written into definitions, which others can read: what opens doors is given as a reference. Stateless. */
    public static final class OpenSecret {
        private static final String REFERENCE = "${";
        private static final Pattern NAME =
                Pattern.compile("passw|passphrase|secret|token|credential|private.?key|jaas");
        private static final Pattern PARAMETER = Pattern.compile("[?&;]([^=&;]*)=([^&;]*)");
        private static final Pattern LOGIN = Pattern.compile("//[^/@?]*:([^/@?]*)@");

        private OpenSecret() {}

        /** Whether a name says that what it has is a secret. */
        public static boolean isNamed(String name) {
            return NAME.matcher(name.toLowerCase(Locale.ROOT)).find();
        }

        /** @throws MillraceException 22023 if the text of an option that is a secret has no reference */
        public static void refuse(String option, String text) {
            if (!text.contains(REFERENCE)) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "option \"" + option + "\" is a secret, and definitions can be read")
                        .withHint("CREATE SECRET s AS '..', then " + option
                                + " = '${secret:s}'; or ${env:NAME}, or ${file:/path}");
            }
        }

        /** @throws MillraceException 22023 if an address has a password or another secret in it that is no reference */
        public static void refuseInAddress(String option, String address) {
            boolean isOpen = LOGIN.matcher(address)
                            .results()
                            .anyMatch(login -> !login.group(1).contains(REFERENCE))
                    || PARAMETER
                            .matcher(address)
                            .results()
                            .anyMatch(parameter -> isNamed(parameter.group(1))
                                    && !parameter.group(2).contains(REFERENCE));
            if (isOpen) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "option \"" + option + "\" has a secret in it, and definitions can be read")
                        .withHint("CREATE SECRET s AS '..', and ${secret:s} in its place, or in the option for it");
            }
        }
    }

    /** Without references: texts are as they are. */
    public Options(Map<String, String> values) {
        this(values, text -> text);
    }

    public Options(Map<String, String> values, References references) {
        this(new LinkedHashMap<>(values), references, new LinkedHashSet<>());
    }

    private Options(Map<String, String> values, References references, Set<String> read) {
        this.values = values;
        this.references = references;
        this.read = read;
    }

    /** These and more, of which those win that are given here; what is read of either is read of both. */
    public Options and(Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(more);
        all.putAll(values);
        return new Options(all, references, read);
    }

    /** How texts are resolved that refer to secrets: as late as can be. */
    public References references() {
        return references;
    }

    public Optional<String> text(String name) {
        read.add(name);
        return Optional.ofNullable(values.get(name));
    }

    public String text(String name, String defaultValue) {
        return text(name).orElse(defaultValue);
    }

    /** @throws MillraceException if it is not there, naming what was perhaps meant to be it */
    public String required(String name) {
        return text(name).orElseThrow(() -> {
            List<String> others =
                    names().stream().filter(each -> !read.contains(each)).toList();
            Optional<String> misspelt = Suggestion.nearest(name, others);
            if (misspelt.isPresent()) {
                return doesNotExist(misspelt.get()).withHint("did you mean \"" + name + "\"?");
            }
            MillraceException missing =
                    MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "option \"" + name + "\" is required");
            return others.stream()
                    .filter(each -> each.contains(name)) // which may be an option of its own, as json.path.x is
                    .findFirst()
                    .map(each -> missing.withHint("\"" + each + "\" is another one"))
                    .orElse(missing);
        });
    }

    public boolean bool(String name, boolean defaultValue) {
        return text(name)
                .map(value -> switch (value.toLowerCase(Locale.ROOT)) {
                    case "true", "on", "yes", "1" -> true;
                    case "false", "off", "no", "0" -> false;
                    default -> throw invalid(name, value, "true or false");
                })
                .orElse(defaultValue);
    }

    /** A whole number between the bounds, both inclusive. */
    public long integer(String name, long defaultValue, long atLeast, long atMost) {
        return text(name)
                .map(value -> {
                    try {
                        long number = Long.parseLong(value.replace("_", "").trim());
                        if (number >= atLeast && number <= atMost) {
                            return number;
                        }
                    } catch (NumberFormatException e) {
                        // falls through to the one message for both
                    }
                    throw invalid(name, value, "a whole number from " + atLeast + " to " + atMost);
                })
                .orElse(defaultValue);
    }

    /** A number greater than zero. */
    public double positive(String name, double defaultValue) {
        return text(name)
                .map(value -> {
                    try {
                        double number = Double.parseDouble(value.trim());
                        if (number > 0 && !Double.isInfinite(number)) {
                            return number;
                        }
                    } catch (NumberFormatException e) {
                        // falls through to the one message for both
                    }
                    throw invalid(name, value, "a number greater than zero");
                })
                .orElse(defaultValue);
    }

    /** A duration such as {@code 10ms}, {@code 1.5s}, {@code 2 min}, {@code 1h} or {@code 1 day}, in microseconds. */
    public long durationMicros(String name, long defaultMicros) {
        return text(name).map(value -> parseDuration(name, value)).orElse(defaultMicros);
    }

    /** One of the constants of an enum, by its name in lower case. */
    public <E extends Enum<E>> E oneOf(String name, E defaultValue) {
        Class<E> type = defaultValue.getDeclaringClass();
        return text(name)
                .map(value -> {
                    for (E constant : type.getEnumConstants()) {
                        if (constant.name().equalsIgnoreCase(value)) {
                            return constant;
                        }
                    }
                    throw invalid(
                            name,
                            value,
                            Arrays.stream(type.getEnumConstants())
                                    .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                                    .collect(Collectors.joining(", ", "one of ", "")));
                })
                .orElse(defaultValue);
    }

    /** All names given, in the order of the text. */
    public Set<String> names() {
        return values.keySet();
    }

    /** Fails for the first option that was never asked for, suggesting the nearest name that was. */
    public void rejectUnread() {
        for (String name : values.keySet()) {
            if (!read.contains(name)) {
                MillraceException error = doesNotExist(name);
                throw Suggestion.nearest(name, read)
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElseGet(() -> error.withHint("options here are: " + String.join(", ", read)));
            }
        }
    }

    private static MillraceException doesNotExist(String name) {
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "option \"" + name + "\" does not exist");
    }

    /** The error for a value that an option cannot have. */
    public static MillraceException invalid(String name, String value, String expected) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "option \"" + name + "\" cannot be \"" + value + "\"; it must be " + expected);
    }

    private static long parseDuration(String name, String value) {
        String text = value.trim().toLowerCase(Locale.ROOT);
        int split = 0;
        while (split < text.length() && (Character.isDigit(text.charAt(split)) || text.charAt(split) == '.')) {
            split++;
        }
        double unitMicros = switch (text.substring(split).trim()) {
            case "us", "microsecond", "microseconds" -> 1;
            case "ms", "millisecond", "milliseconds" -> 1e3;
            case "s", "sec", "second", "seconds" -> 1e6;
            case "m", "min", "minute", "minutes" -> 60e6;
            case "h", "hour", "hours" -> 3600e6;
            case "d", "day", "days" -> 86400e6;
            default -> throw invalid(name, value, "a duration such as 10ms, 5s or 1 day");
        };
        try {
            return Math.round(Double.parseDouble(text.substring(0, split)) * unitMicros);
        } catch (NumberFormatException e) {
            throw invalid(name, value, "a duration such as 10ms, 5s or 1 day");
        }
    }
}
