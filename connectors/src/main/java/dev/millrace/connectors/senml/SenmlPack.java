package dev.millrace.connectors.senml;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads packs and resolves them (RFC 8428, section 4.6): each value with its whole name, its unit and its time. */
final class SenmlPack {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build();
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9\\-:./_]*");
    private static final Set<String> BASES = Set.of("bn", "bt", "bu", "bv", "bs", "bver");
    private static final int VERSION = 10;
    private static final double RELATIVE_BELOW = 1 << 28; // seconds: a time from now, RFC 8428, section 4.5.3

    /** A value with what it is the value of; times in seconds since 1970. */
    record Value(
            String name,
            Optional<String> unit,
            OptionalDouble number,
            Optional<String> text,
            Optional<Boolean> bool,
            Optional<byte[]> data,
            OptionalDouble sum,
            double time,
            OptionalDouble update) {}

    private final double nowSeconds;

    // The base fields so far.
    private String baseName = "";
    private double baseTime;
    private Optional<String> baseUnit = Optional.empty();
    private OptionalDouble baseValue = OptionalDouble.empty();
    private OptionalDouble baseSum = OptionalDouble.empty();

    private SenmlPack(double nowSeconds) {
        this.nowSeconds = nowSeconds;
    }

    /**
     * The values of a pack.
     *
     * @throws MillraceException of the user if it is none
     */
    static List<Value> read(byte[] bytes, double nowSeconds) {
        SenmlPack pack = new SenmlPack(nowSeconds);
        List<Value> values = new ArrayList<>();
        try (JsonParser json = FACTORY.createParser(bytes)) {
            if (json.nextToken() != JsonToken.START_ARRAY) {
                throw wrong("a pack is an array of objects");
            }
            while (json.nextToken() == JsonToken.START_OBJECT) {
                pack.record(json).ifPresent(values::add);
            }
            if (json.currentToken() != JsonToken.END_ARRAY || json.nextToken() != null) {
                throw wrong("a pack is an array of objects, and nothing else");
            }
        } catch (IOException e) {
            String said = e instanceof com.fasterxml.jackson.core.JsonProcessingException parsing
                    ? parsing.getOriginalMessage()
                    : String.valueOf(e.getMessage());
            throw MillraceException.user(
                    SqlState.INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json: " + said);
        }
        return values;
    }

    /** The record that begins here, if it has a value. */
    private Optional<Value> record(JsonParser json) throws IOException {
        Optional<String> name = Optional.empty();
        Optional<String> unit = Optional.empty();
        Optional<String> text = Optional.empty();
        Optional<Boolean> bool = Optional.empty();
        Optional<byte[]> data = Optional.empty();
        OptionalDouble number = OptionalDouble.empty();
        OptionalDouble sum = OptionalDouble.empty();
        OptionalDouble update = OptionalDouble.empty();
        double time = 0;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String label = json.currentName();
            json.nextToken();
            switch (label) {
                case "n" -> name = Optional.of(string(json, label));
                case "u" -> unit = Optional.of(string(json, label));
                case "vs" -> text = Optional.of(string(json, label));
                case "vd" -> data = Optional.of(data(string(json, label)));
                case "vb" -> bool = Optional.of(bool(json));
                case "v" -> number = OptionalDouble.of(number(json, label));
                case "s" -> sum = OptionalDouble.of(number(json, label));
                case "t" -> time = number(json, label);
                case "ut" -> update = OptionalDouble.of(number(json, label));
                default -> {
                    if (BASES.contains(label)) {
                        base(json, label);
                    } else if (label.endsWith("_")) {
                        throw wrong("label \"" + label + "\" must be understood, and is not");
                    } else {
                        json.skipChildren();
                    }
                }
            }
        }
        int values = (number.isPresent() ? 1 : 0)
                + (text.isPresent() ? 1 : 0)
                + (bool.isPresent() ? 1 : 0)
                + (data.isPresent() ? 1 : 0);
        if (values > 1) {
            throw wrong("a record with " + values + " values");
        }
        if (values == 0 && sum.isEmpty()) {
            return Optional.empty();
        }
        String whole = baseName + name.orElse("");
        if (!NAME.matcher(whole).matches()) {
            throw wrong("\"" + whole + "\" is no name of a measurement");
        }
        double seconds = baseTime + time;
        return Optional.of(new Value(
                whole,
                unit.or(() -> baseUnit),
                plus(number, baseValue),
                text,
                bool,
                data,
                plus(sum, baseSum),
                seconds < RELATIVE_BELOW ? nowSeconds + seconds : seconds,
                update));
    }

    private static OptionalDouble plus(OptionalDouble value, OptionalDouble base) {
        return value.isPresent() && base.isPresent()
                ? OptionalDouble.of(value.getAsDouble() + base.getAsDouble())
                : value;
    }

    private void base(JsonParser json, String label) throws IOException {
        switch (label) {
            case "bn" -> baseName = string(json, label);
            case "bu" -> baseUnit = Optional.of(string(json, label));
            case "bt" -> baseTime = number(json, label);
            case "bv" -> baseValue = OptionalDouble.of(number(json, label));
            case "bs" -> baseSum = OptionalDouble.of(number(json, label));
            default -> {
                double version = number(json, label);
                if (version > VERSION) {
                    throw wrong("version " + version + ", and " + VERSION + " is the newest that is known");
                }
            }
        }
    }

    private static String string(JsonParser json, String label) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw wrong("\"" + label + "\" must be a string");
        }
        return json.getText();
    }

    private static double number(JsonParser json, String label) throws IOException {
        if (!json.currentToken().isNumeric()) {
            throw wrong("\"" + label + "\" must be a number");
        }
        double number = Double.parseDouble(json.getText());
        if (Double.isInfinite(number)) {
            throw wrong("\"" + label + "\" is out of range");
        }
        return number;
    }

    private static boolean bool(JsonParser json) {
        if (!json.currentToken().isBoolean()) {
            throw wrong("\"vb\" must be true or false");
        }
        return json.currentToken() == JsonToken.VALUE_TRUE;
    }

    private static byte[] data(String text) {
        try {
            return Base64.getUrlDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw wrong("\"vd\" must be base64 of URLs");
        }
    }

    private static MillraceException wrong(String why) {
        return MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "the record is no SenML: " + why);
    }
}
