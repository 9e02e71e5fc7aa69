package dev.millrace.text;

import java.util.Locale;
import java.util.Optional;

/**
 * How dates are written, and in which order their numbers are read where these do not say: PostgreSQL's setting of this name.
 *
 * @param order of day, month and year in texts such as {@code 1/2/2020}; SQL and POSTGRES write by it, too
 */
public record DateStyle(Form form, Order order) {
    /** What is written for the last day of 1999. */
    public enum Form {
        /** {@code 1999-12-31 23:59:59+01}. */
        ISO("ISO"),
        /** {@code 12/31/1999 23:59:59 CET}. */
        SQL("SQL"),
        /** {@code Fri Dec 31 23:59:59 1999 CET}. */
        POSTGRES("Postgres"),
        /** {@code 31.12.1999 23:59:59 CET}. */
        GERMAN("German");

        private final String shown;

        Form(String shown) {
            this.shown = shown;
        }
    }

    /** Years, months and days. */
    public enum Order {
        YMD,
        DMY,
        MDY
    }

    /** What holds where nothing is said. */
    public static final DateStyle ISO_MDY = new DateStyle(Form.ISO, Order.MDY);

    /**
     * This one, changed as a value of the setting says: a form, an order, or both, with commas between, or nothing.
     *
     * @return empty for what is neither, and for two that differ
     */
    public Optional<DateStyle> with(String text) {
        if (text.isBlank()) {
            return Optional.of(this);
        }
        Optional<Form> newForm = Optional.empty();
        Optional<Order> newOrder = Optional.empty();
        for (String part : text.split(",", -1)) {
            String word = part.strip().toLowerCase(Locale.ROOT);
            boolean isDefault = word.equals("default");
            Optional<Form> asForm = isDefault ? newForm.or(() -> Optional.of(ISO_MDY.form)) : formOf(word);
            Optional<Order> asOrder = isDefault ? newOrder.or(() -> Optional.of(ISO_MDY.order)) : orderOf(word);
            if (asForm.isEmpty() && asOrder.isEmpty() || differ(newForm, asForm) || differ(newOrder, asOrder)) {
                return Optional.empty();
            }
            newForm = newForm.or(() -> asForm);
            newOrder = newOrder.or(() -> asOrder);
        }
        Order impliedOrder = newForm.equals(Optional.of(Form.GERMAN)) ? Order.DMY : order;
        return Optional.of(new DateStyle(newForm.orElse(form), newOrder.orElse(impliedOrder)));
    }

    private static boolean differ(Optional<?> known, Optional<?> given) {
        return known.isPresent() && given.isPresent() && !known.equals(given);
    }

    private static Optional<Form> formOf(String word) {
        return switch (word) {
            case "iso" -> Optional.of(Form.ISO);
            case "sql" -> Optional.of(Form.SQL);
            case "german" -> Optional.of(Form.GERMAN);
            default -> word.startsWith("postgres") ? Optional.of(Form.POSTGRES) : Optional.empty();
        };
    }

    private static Optional<Order> orderOf(String word) {
        if (word.equals("ymd")) {
            return Optional.of(Order.YMD);
        } else if (word.equals("dmy") || word.startsWith("euro")) {
            return Optional.of(Order.DMY);
        }
        return word.equals("mdy") || word.equals("us") || word.startsWith("noneuro")
                ? Optional.of(Order.MDY)
                : Optional.empty();
    }

    /** As PostgreSQL shows it: {@code ISO, MDY}. */
    @Override
    public String toString() {
        return form.shown + ", " + order;
    }
}
