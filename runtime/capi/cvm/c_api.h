/**
 * @file
 * The name under which programs for the deployed CVM runtime include its interface.
 *
 * License: Apache-2.0 OR MIT.
 */
#include "../cvm.h"
