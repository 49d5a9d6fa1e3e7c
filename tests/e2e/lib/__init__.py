# SPDX-License-Identifier: Apache-2.0
"""Support code of the end-to-end tests."""
