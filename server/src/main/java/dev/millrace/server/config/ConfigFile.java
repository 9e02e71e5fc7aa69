package dev.millrace.server.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigResolveOptions;
import com.typesafe.config.ConfigSyntax;
import com.typesafe.config.ConfigValue;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Reads {@code millrace.conf} under the options of the command line and over the defaults.
 *
 * <pre>
 *   ServerConfig config = ConfigFile.read(Optional.of(file), Map.of("listen.port", "5440"));
 * </pre>
 */
public final class ConfigFile {
    /** In the data directory, if no other file is named. */
    public static final String NAME = "millrace.conf";

    private static final String REFERENCE = "reference.conf";
    private static final ConfigParseOptions HOCON =
            ConfigParseOptions.defaults().setSyntax(ConfigSyntax.CONF);

    private ConfigFile() {}

    /** The commented list of all options with their defaults. */
    public static String reference() {
        try (InputStream in = ConfigFile.class.getResourceAsStream(REFERENCE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The options of a server.
     *
     * @param file what was asked for; without, that of the data directory if there is one
     * @param given options of the command line by their full names; they go before those of the file
     * @throws MillraceException for an option that does not exist, with the nearest that does, and for a value that cannot
     *     be (F0000); the message names file and line
     */
    public static ServerConfig read(Optional<Path> file, Map<String, String> given) {
        try {
            Config reference = parsedReference();
            Config over = commandLine(given);
            requireKnown(over, reference);
            Config set = over;
            Optional<Path> read = file.or(() -> ofDataDirectory(over));
            if (read.isPresent()) {
                Config text = parse(read.get());
                requireKnown(text, reference);
                set = over.withFallback(text);
            }
            return new ConfigReader(set.withFallback(reference).resolve(ConfigResolveOptions.defaults())).config();
        } catch (ConfigException e) {
            throw invalid(e);
        }
    }

    /** What each option is called, without what it is. */
    static Set<String> names() {
        return leaves(parsedReference()).keySet();
    }

    static Config parsedReference() {
        return ConfigFactory.parseReader(new StringReader(reference()), HOCON.setOriginDescription("the defaults"));
    }

    private static Optional<Path> ofDataDirectory(Config over) {
        return Optional.of("data")
                .filter(over::hasPath)
                .map(over::getString)
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory).resolve(NAME))
                .filter(Files::exists);
    }

    private static Config commandLine(Map<String, String> given) {
        Map<String, Object> values = new TreeMap<>(given);
        return ConfigFactory.parseMap(values, "the command line");
    }

    private static Config parse(Path file) {
        try {
            return ConfigFactory.parseReader(
                            new StringReader(Files.readString(file)), HOCON.setOriginDescription(file.toString()))
                    .resolveWith(
                            ConfigFactory.empty().withFallback(ConfigFactory.systemEnvironment()),
                            ConfigResolveOptions.defaults());
        } catch (NoSuchFileException e) {
            throw MillraceException.user(SqlState.CONFIG_FILE_ERROR, "there is no configuration file " + file);
        } catch (IOException e) {
            throw MillraceException.external(
                    SqlState.CONFIG_FILE_ERROR, "cannot read the configuration " + file + ": " + e.getMessage(), e);
        }
    }

    private static void requireKnown(Config config, Config reference) {
        Set<String> known = leaves(reference).keySet();
        Set<String> groups = new TreeSet<>();
        known.forEach(name -> groups.add(name.substring(0, Math.max(0, name.lastIndexOf('.')))));
        for (Map.Entry<String, ConfigValue> entry : leaves(config).entrySet()) {
            String name = entry.getKey();
            if (known.contains(name)) {
                continue;
            }
            String place = place(entry.getValue().origin());
            if (groups.contains(name)) {
                List<String> members = known.stream()
                        .filter(option -> option.startsWith(name + "."))
                        .toList();
                throw MillraceException.user(
                                SqlState.CONFIG_FILE_ERROR, place + "\"" + name + "\" is a group of options, not one")
                        .withHint("its options are " + String.join(", ", members));
            }
            MillraceException unknown = MillraceException.user(
                    SqlState.CONFIG_FILE_ERROR, place + "option \"" + name + "\" does not exist");
            throw unknown.withHint(nearest(name, known)
                    .map(nearest -> "did you mean " + nearest + "?")
                    .orElse("millrace server --print-config lists them"));
        }
    }

    /** Those that are called the same in other groups, or one that is spelt nearly the same. */
    private static Optional<String> nearest(String name, Set<String> known) {
        String last = name.substring(name.lastIndexOf('.') + 1);
        String same = known.stream()
                .filter(other -> other.substring(other.lastIndexOf('.') + 1).equals(last))
                .map(other -> '"' + other + '"')
                .collect(Collectors.joining(" or "));
        return same.isEmpty() ? Suggestion.nearest(name, known).map(nearest -> '"' + nearest + '"') : Optional.of(same);
    }

    /** Options by their full names; an empty group is none. */
    private static Map<String, ConfigValue> leaves(Config config) {
        Map<String, ConfigValue> leaves = new TreeMap<>();
        config.root().forEach((name, value) -> collect(name, value, leaves));
        return leaves;
    }

    private static void collect(String name, ConfigValue value, Map<String, ConfigValue> leaves) {
        if (value instanceof com.typesafe.config.ConfigObject group) {
            group.forEach((inner, of) -> collect(name + "." + inner, of, leaves));
        } else {
            leaves.put(name, value);
        }
    }

    private static String place(ConfigOrigin origin) {
        List<String> parts = new ArrayList<>();
        parts.add(origin.description().replaceAll(": \\d+$", ""));
        if (origin.lineNumber() > 0) {
            parts.add("line " + origin.lineNumber());
        }
        return String.join(", ", parts) + ": ";
    }

    private static MillraceException invalid(ConfigException error) {
        String text = String.valueOf(error.getMessage());
        if (error.origin() != null) {
            String described = error.origin().description() + ": ";
            text = place(error.origin()) + (text.startsWith(described) ? text.substring(described.length()) : text);
        }
        return MillraceException.user(SqlState.CONFIG_FILE_ERROR, text.replace('\n', ' '));
    }
}
