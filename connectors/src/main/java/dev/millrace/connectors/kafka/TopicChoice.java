package dev.millrace.connectors.kafka;

import dev.millrace.connector.Options;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Which topics are read: those named in {@code topic}, between commas, or those whose whole name {@code topic.pattern} matches.
 * Immutable.
 */
record TopicChoice(List<String> names, Optional<Pattern> pattern) {
    private static final Pattern LEGAL = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

    static TopicChoice read(Options options) {
        Optional<String> pattern = options.text("topic.pattern");
        if (pattern.isPresent()) {
            if (options.text("topic").isPresent()) {
                throw Options.invalid("topic", options.required("topic"), "left out where topic.pattern is given");
            }
            try {
                return new TopicChoice(List.of(), Optional.of(Pattern.compile(pattern.get())));
            } catch (PatternSyntaxException e) {
                throw Options.invalid("topic.pattern", pattern.get(), "a regular expression: " + e.getDescription());
            }
        }
        String given = options.required("topic");
        List<String> names =
                List.of(given.split(",")).stream().map(String::strip).distinct().toList();
        for (String name : names) {
            if (!LEGAL.matcher(name).matches()) {
                throw Options.invalid("topic", given, "names of topics, between commas (letters, digits, . _ -)");
            }
        }
        return new TopicChoice(names, Optional.empty());
    }

    /** The one topic of a sink. */
    static String oneTopic(Options options) {
        return legal("topic", options.required("topic"));
    }

    /** @throws MillraceException 22023 if an option has what cannot be a topic's name */
    static String legal(String option, String topic) {
        if (!LEGAL.matcher(topic).matches()) {
            throw Options.invalid(option, topic, "the name of a topic (letters, digits, . _ -)");
        }
        return topic;
    }

    boolean matches(String topic) {
        return pattern.map(regex -> regex.matcher(topic).matches()).orElseGet(() -> names.contains(topic));
    }

    /** For users. */
    @Override
    public String toString() {
        return pattern.map(regex -> "topics like " + regex)
                .orElseGet(() -> (names.size() == 1 ? "topic " : "topics ") + String.join(", ", names));
    }
}
